// Runs one job of the load process, and watches what it costs.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { processCpuUs, residentMb, serverCpuUs } from '../cpu.ts';
import type { LoadJob, LoadMessage, LoadResult } from './job.ts';
import type { Service } from './stage.ts';

const LOAD = fileURLToPath(new URL('load.ts', import.meta.url));
const MEMORY_SAMPLE_MS = 250;

/** CPU time is per answer. NaN where the system does not tell. */
export type Measurement = LoadResult & {
  readonly serviceCpuUs: number;
  readonly serverCpuUs: number;
  readonly loadCpuUs: number;
  /** The most that the service had in memory, warming up included. */
  readonly memoryMb: number;
};

export type Load = {
  readonly pid: number;
  run(
    service: Service,
    job: Omit<LoadJob, 'host' | 'port'>,
    sampled?: (memoryMb: number) => void,
  ): Promise<Measurement>;
  stop(): void;
};

type CpuTimes = { readonly service: number; readonly server: number; readonly load: number };

/** Calls back at each phase; resolves with the result. */
function runJob(child: ChildProcess, job: LoadJob, phase: () => void): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const ended = (): void => done(() => reject(new Error('the load process ended')));
    const told = (message: LoadMessage): void => {
      if ('phase' in message) phase();
      else if ('error' in message) done(() => reject(new Error(message.error)));
      else done(() => resolve(message.result));
    };
    const done = (settle: () => void): void => {
      child.off('message', told).off('exit', ended);
      settle();
    };
    child.on('message', told).once('exit', ended);
    child.send(job);
  });
}

export function startLoad(postmasterPid: number): Load {
  // With figures that could not be had: JSON has no NaN.
  const child = fork(LOAD, { serialization: 'advanced' });
  const cpuTimes = (service: Service): CpuTimes => ({
    service: processCpuUs(service.pid),
    server: serverCpuUs(postmasterPid),
    load: processCpuUs(child.pid!),
  });
  return {
    pid: child.pid!,
    async run(service, job, sampled) {
      const { host, port } = service;
      const phases: CpuTimes[] = [];
      let memoryMb = residentMb(service.pid);
      const timer = setInterval(() => {
        const now = residentMb(service.pid);
        memoryMb = Math.max(memoryMb, now);
        sampled?.(now);
      }, MEMORY_SAMPLE_MS);
      try {
        const result = await runJob(child, { ...job, host, port }, () => phases.push(cpuTimes(service)));
        const [from, to] = [phases[0]!, phases[1]!];
        return {
          ...result,
          serviceCpuUs: (to.service - from.service) / result.count,
          serverCpuUs: (to.server - from.server) / result.count,
          loadCpuUs: (to.load - from.load) / result.count,
          memoryMb,
        };
      } finally {
        clearInterval(timer);
      }
    },
    stop: () => void child.kill(),
  };
}
