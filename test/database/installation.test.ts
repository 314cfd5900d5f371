import { afterAll, beforeAll, expect, it } from 'vitest';
import { installationFault } from '../../src/database/installation.ts';
import { createAssets } from '../../src/kernel/asset.ts';
import { DEFAULT_ASSETS } from '../../src/networks/default-assets.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let test: TestDatabase;
const assets = createAssets(DEFAULT_ASSETS);
beforeAll(async () => {
  test = await createTestDatabase();
  expect(await installationFault(test.database, 'production', assets)).toBeUndefined();
});
afterAll(() => test.drop());

it('a database is opened again as it was made', async () => {
  expect(await installationFault(test.database, 'production', assets)).toBeUndefined();
});

it('a sandbox does not run on a database of production', async () => {
  expect(await installationFault(test.database, 'sandbox', assets)).toMatch(
    /^FERRY_MODE is sandbox, but .* production/,
  );
});

it('an asset keeps its decimals, since they give every unit its meaning', async () => {
  const other = createAssets(
    DEFAULT_ASSETS.map((one) => (one.code === 'USD' ? { ...one, decimals: 4 } : one)),
  );
  expect(await installationFault(test.database, 'production', other)).toMatch(
    /USD has 4 decimals, .* made with 2/,
  );
});

it('an asset that was known stays known', async () => {
  const fewer = createAssets(DEFAULT_ASSETS.filter((one) => one.code !== 'LTC'));
  expect(await installationFault(test.database, 'production', fewer)).toMatch(/LTC is missing/);
});

it('a further asset is taken on', async () => {
  const more = createAssets([...DEFAULT_ASSETS, { code: 'EUR', decimals: 2, kind: 'FIAT', networks: {} }]);
  expect(await installationFault(test.database, 'production', more)).toBeUndefined();
});
