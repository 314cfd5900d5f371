/** The environment of a service in production. Tests provide its database, so the URL is not used. */
export const PRODUCTION = {
  FERRY_MODE: 'production',
  DATABASE_URL: 'postgres://localhost/unused',
  FERRY_PUBLIC_URL: 'https://ferry.example',
  // Tests of four eyes switch it on.
  FERRY_FOUR_EYES: 'off',
  FERRY_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
};
