import { afterAll, expect, it } from 'vitest';
import { operationTable, schemaTypes } from '../../packages/client/scripts/generate.ts';
import { PROBLEM_CLASSES } from '../../packages/client/src/problems.ts';
import { PROBLEMS } from '../../src/kernel/problem.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService();
afterAll(() => service.stop());
const { document } = service.description;
const generated = (name: string) => `../../packages/client/src/${name}.generated.ts`;

it('the client has the operations of the document; if not: npm run client:types', async () => {
  await expect(operationTable(document)).toMatchFileSnapshot(generated('operations'));
});

it('the client has the types of the document; if not: npm run client:types', async () => {
  await expect(await schemaTypes(document)).toMatchFileSnapshot(generated('schema'));
});

it('the client has a class for every problem', () => {
  expect(Object.keys(PROBLEM_CLASSES).sort()).toEqual(Object.keys(PROBLEMS).sort());
});
