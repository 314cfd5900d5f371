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

it('a database can be opened with the settings that it was created with', async () => {
  expect(await installationFault(test.database, 'production', assets)).toBeUndefined();
});

it('a sandbox does not run on a production database', async () => {
  expect(await installationFault(test.database, 'sandbox', assets)).toMatch(
    /^FERRY_MODE is sandbox, but .* production/,
  );
});

it('the decimals of an asset cannot change, because balances are stored in units', async () => {
  const other = createAssets(
    DEFAULT_ASSETS.map((one) => (one.code === 'USD' ? { ...one, decimals: 4 } : one)),
  );
  expect(await installationFault(test.database, 'production', other)).toMatch(
    /USD has 4 decimals, .* created with 2/,
  );
});

it('an asset cannot be removed', async () => {
  const fewer = createAssets(DEFAULT_ASSETS.filter((one) => one.code !== 'LTC'));
  expect(await installationFault(test.database, 'production', fewer)).toMatch(/LTC is missing/);
});

it('an asset can be added', async () => {
  const more = createAssets([...DEFAULT_ASSETS, { code: 'EUR', decimals: 2, kind: 'FIAT', networks: {} }]);
  expect(await installationFault(test.database, 'production', more)).toBeUndefined();
});
