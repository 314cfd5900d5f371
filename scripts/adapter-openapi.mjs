// Writes docs/adapter-openapi.json, the OpenAPI document for authors of adapters, from the schemas that validate their answers.
// A test compares the file with them. Usage: npm run docs:adapter
import { writeFileSync } from 'node:fs';
import { adapterOpenApi } from '../src/http-rail/openapi.ts';

const path = new URL('../docs/adapter-openapi.json', import.meta.url);
writeFileSync(path, `${JSON.stringify(adapterOpenApi(), null, 2)}\n`);
