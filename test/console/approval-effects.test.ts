import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PRIVILEGED_NAMES } from '../../src/kernel/privileged.ts';
import { ROOT } from '../house/sources.ts';

it('every privileged action has a sentence that says what it does, and no other has', async () => {
  // The console has types of its own, which this project does not check.
  const { EFFECTS } = await import(join(ROOT, 'console/src/approvals/effects.ts'));
  expect(Object.keys(EFFECTS).toSorted()).toEqual(PRIVILEGED_NAMES.toSorted());
  for (const [name, sentence] of Object.entries(EFFECTS)) expect(sentence, name).toMatch(/^[A-Z].{20,}\.$/);
});
