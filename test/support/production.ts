/** The environment of a service that simulates nothing. Tests give it a database of their own, and no URL is used. */
export const PRODUCTION = {
  FERRY_MODE: 'production',
  DATABASE_URL: 'postgres://unused',
  FERRY_PUBLIC_URL: 'https://ferry.example',
};
