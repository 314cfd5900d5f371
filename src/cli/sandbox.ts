import { CommandError, type CommandLine, type Invocation, noArguments } from './command-line.ts';

/** `ferry sandbox`, and `ferry sandbox --chains`: the same with local nodes instead of simulated chains. */

function checkMode({ config }: Invocation): void {
  if (config.mode === 'production')
    throw new CommandError('ferry sandbox does not run in production: unset FERRY_MODE.');
}

export const SANDBOX_COMMANDS: readonly CommandLine[] = [
  {
    name: 'sandbox',
    summary: 'run the sandbox; with --chains on local nodes of real chains',
    usage: 'sandbox [--chains]',
    details: [
      'Without --chains, the same as ferry serve: every network is simulated, and the data stays.',
      'With --chains, the EVM networks and SOLANA are local nodes that npm has installed, with funded wallets and',
      'a signer inside the service. Withdrawals and deposits are transactions of these nodes. The chains and the',
      'database end with the command. Networks without a node are simulated.',
    ].join('\n'),
    options: { chains: { help: 'run local nodes instead of simulating chains' } },
    async run(invocation) {
      noArguments(invocation);
      checkMode(invocation);
      // Imported here, because the other commands need neither nodes nor an HTTP server, and start faster without them.
      if (invocation.options.chains === true)
        return (await import('./sandbox-chains.ts')).runWithChains(invocation);
      const { serve } = await import('../serve.ts');
      await serve(invocation.config, (line) => invocation.print(line));
      return 0;
    },
  },
];
