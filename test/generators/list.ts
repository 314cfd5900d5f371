import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addProgram, emptied, expectSuccess, type Run } from './commands.ts';

/** Generators with exact versions, as their users run them. */
type Place = {
  readonly folder: string;
  readonly tools: string;
  readonly document: string;
  readonly run: Run;
};
type Generator = {
  readonly name: string;
  readonly version: string;
  /** Programs that it needs. */
  readonly needs: readonly string[];
  run(place: Place): Promise<void>;
};

const OPENAPI_GENERATOR = '7.25.0';
const OPENAPI_PYTHON_CLIENT = '0.29.1';
const OAPI_CODEGEN = 'v2.8.2';
const NODE_PACKAGES = {
  'openapi-typescript': '7.13.0',
  'openapi-fetch': '0.17.0',
  '@hey-api/openapi-ts': '0.99.0',
  typescript: '5.9.3',
};

/** The jar of openapi-generator, from Maven. */
async function jarOf({ tools, run }: Place): Promise<string> {
  const jar = join(tools, `openapi-generator-cli-${OPENAPI_GENERATOR}.jar`);
  const artifact = `org.openapitools:openapi-generator-cli:${OPENAPI_GENERATOR}`;
  mkdirSync(tools, { recursive: true });
  if (!existsSync(jar))
    await run('mvn', ['-q', '-B', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${tools}`]);
  return jar;
}

async function generate(place: Place, language: string, properties: string): Promise<void> {
  const { folder, document, run } = place;
  emptied(folder);
  const jar = await jarOf(place);
  await run('java', [
    '-jar',
    jar,
    'generate',
    `--input-spec=${document}`,
    `--generator-name=${language}`,
    '--output=client',
    '--git-user-id=example',
    '--git-repo-id=ferry',
    `--additional-properties=${properties}`,
  ]);
}

/** A Python with these packages. */
async function pythonWith({ tools, run }: Place, packages: readonly string[]): Promise<string> {
  const home = join(tools, 'python');
  if (!existsSync(home)) await run('python3', ['-m', 'venv', home]);
  const python = join(home, 'bin/python');
  await run(python, ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', ...packages]);
  return python;
}

const COMPILER_OPTIONS = {
  strict: true,
  target: 'es2022',
  module: 'esnext',
  moduleResolution: 'bundler',
  lib: ['es2022', 'dom', 'dom.iterable'],
  outDir: 'out',
};

/** Where programs of npm are. Not in the dependencies of Ferry, which has its own TypeScript. */
async function nodePackages({ tools, run }: Place): Promise<string> {
  const home = join(tools, 'node');
  const wanted = JSON.stringify({ private: true, type: 'module', dependencies: NODE_PACKAGES });
  const installed = join(home, 'installed.json');
  if (!existsSync(installed) || readFileSync(installed, 'utf8') !== wanted) {
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'package.json'), wanted);
    // hey-api takes the nearest settings above its own folder, whatever they are.
    writeFileSync(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER_OPTIONS }));
    await run('npm', ['install', '--prefix', home, '--no-audit', '--no-fund']);
    writeFileSync(installed, wanted);
  }
  return join(home, 'node_modules');
}

/** A project with the strictest settings that generated code permits. */
async function typescriptProject(place: Place): Promise<void> {
  const { folder, run } = place;
  const settings = { compilerOptions: COMPILER_OPTIONS, files: ['program.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await run('ln', ['-sfn', await nodePackages(place), 'node_modules']);
}

async function compileAndRun({ folder, run }: Place, program: string): Promise<void> {
  addProgram(folder, program, 'program.ts');
  await run('node_modules/.bin/tsc', ['--project', '.']);
  const loader = join(import.meta.dirname, 'programs/without-endings.mjs');
  expectSuccess(await run(process.execPath, ['--import', loader, 'out/program.js']));
}

export const GENERATORS: readonly Generator[] = [
  {
    name: 'openapi-generator python',
    version: OPENAPI_GENERATOR,
    needs: ['java', 'mvn', 'python3'],
    async run(place) {
      await generate(place, 'python', 'packageName=ferry_client');
      const requirements = ['urllib3>=2', 'python-dateutil', 'pydantic>=2', 'typing-extensions'];
      const python = await pythonWith(place, requirements);
      await place.run(python, ['-m', 'compileall', '-q', 'client/ferry_client']);
      addProgram(join(place.folder, 'client'), 'openapi_generator.py');
      expectSuccess(await place.run(python, ['openapi_generator.py'], 'client'));
    },
  },
  {
    name: 'openapi-generator go',
    version: OPENAPI_GENERATOR,
    needs: ['java', 'mvn', 'go'],
    async run(place) {
      await generate(place, 'go', 'packageName=ferry,withGoMod=true');
      mkdirSync(join(place.folder, 'client/cmd'));
      addProgram(join(place.folder, 'client/cmd'), 'openapi_generator.go.txt', 'main.go');
      await place.run('go', ['mod', 'tidy'], 'client');
      await place.run('go', ['vet', '.'], 'client');
      expectSuccess(await place.run('go', ['run', './cmd'], 'client'));
    },
  },
  {
    name: 'openapi-generator typescript-fetch',
    version: OPENAPI_GENERATOR,
    needs: ['java', 'mvn', 'npm'],
    async run(place) {
      await generate(place, 'typescript-fetch', 'supportsES6=true');
      await typescriptProject(place);
      await compileAndRun(place, 'typescript_fetch.ts.txt');
    },
  },
  {
    name: 'openapi-python-client',
    version: OPENAPI_PYTHON_CLIENT,
    needs: ['python3'],
    async run(place) {
      emptied(place.folder);
      const python = await pythonWith(place, [`openapi-python-client==${OPENAPI_PYTHON_CLIENT}`]);
      const generator = join(place.tools, 'python/bin/openapi-python-client');
      const options = [
        '--path',
        place.document,
        '--output-path',
        'client',
        '--meta',
        'none',
        '--fail-on-warning',
      ];
      // It formats what it writes, with a program that is installed beside it.
      const path = `PATH=${join(place.tools, 'python/bin')}:${process.env.PATH}`;
      await place.run('env', [path, generator, 'generate', ...options]);
      await place.run('mv', ['client', 'ferry_client']);
      await place.run(python, ['-m', 'compileall', '-q', 'ferry_client']);
      addProgram(place.folder, 'openapi_python_client.py');
      expectSuccess(await place.run(python, ['openapi_python_client.py']));
    },
  },
  {
    name: 'oapi-codegen',
    version: OAPI_CODEGEN,
    needs: ['go'],
    async run(place) {
      mkdirSync(join(emptied(place.folder), 'client'));
      const tool = `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@${OAPI_CODEGEN}`;
      const options = ['-generate', 'types,client', '-package', 'client', '-o', 'client/client.gen.go'];
      writeFileSync(join(place.folder, 'go.mod'), 'module example.com/ferry\n\ngo 1.24\n');
      await place.run('go', ['run', tool, ...options, place.document]);
      addProgram(place.folder, 'oapi_codegen.go.txt', 'main.go');
      await place.run('go', ['mod', 'tidy']);
      await place.run('go', ['vet', './...']);
      expectSuccess(await place.run('go', ['run', '.']));
    },
  },
  {
    name: 'openapi-typescript',
    version: NODE_PACKAGES['openapi-typescript'],
    needs: ['npm'],
    async run(place) {
      emptied(place.folder);
      await typescriptProject(place);
      await place.run('node_modules/.bin/openapi-typescript', [place.document, '-o', 'schema.d.ts']);
      await compileAndRun(place, 'openapi_typescript.ts.txt');
    },
  },
  {
    name: 'hey-api',
    version: NODE_PACKAGES['@hey-api/openapi-ts'],
    needs: ['npm'],
    async run(place) {
      emptied(place.folder);
      await typescriptProject(place);
      await place.run('node_modules/.bin/openapi-ts', ['-i', place.document, '-o', 'client']);
      await compileAndRun(place, 'hey_api.ts.txt');
    },
  },
];
