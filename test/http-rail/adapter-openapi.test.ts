import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { INSTRUCTIONS } from '../../src/http-rail/examples.ts';
import { readNotices } from '../../src/http-rail/notices.ts';
import { adapterOpenApi } from '../../src/http-rail/openapi.ts';
import { instructionsShape, loadValidation } from '../../src/http-rail/rail.ts';
import { NETWORKS } from '../../src/networks/register.ts';
import { assets } from '../support/ledger.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** The document for authors of adapters. */
const PATH = resolve(import.meta.dirname, '../../docs/adapter-openapi.json');
const document: any = JSON.parse(JSON.stringify(adapterOpenApi()));
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

/** Every schema with examples, at its place in the document. */
function exampled(
  value: any,
  at = '',
): { at: string; schema: object; examples: Record<string, { value: unknown }> }[] {
  if (value === null || typeof value !== 'object') return [];
  if (value.schema !== undefined && value.examples !== undefined) return [{ at, ...value }];
  return Object.entries(value).flatMap(([name, inner]) => exampled(inner, `${at}/${name}`));
}

describe('the OpenAPI document for adapters', () => {
  it('is the one in docs/: run npm run docs:adapter after a change of the schemas', () => {
    expect(JSON.parse(readFileSync(PATH, 'utf8'))).toEqual(document);
  });

  it('is served under /docs', async () => {
    const response = await fetch(`${service.url}/docs/adapter-openapi.json`);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(await response.json()).toEqual(document);
  });

  it('is valid OpenAPI 3.1, and follows the rules of an independent linter', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const findings = await lintFromString({
      source: JSON.stringify(document),
      absoluteRef: '/adapter.json',
      config,
    });
    expect(
      findings.map(({ ruleId, message, location }) => `${ruleId} at ${location[0]!.pointer}: ${message}`),
    ).toEqual([]);
  });

  it('has examples that match their schemas', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    ajv.addSchema(document, 'doc');
    const found = exampled(document.paths);
    expect(found.length).toBeGreaterThan(15);
    for (const { at, schema, examples } of found) {
      const { $ref } = schema as { $ref?: string };
      const validate = $ref === undefined ? ajv.compile(schema) : ajv.getSchema(`doc${$ref}`)!;
      for (const [name, { value }] of Object.entries(examples))
        expect({ at, name, isValid: validate(value), errors: validate.errors }).toMatchObject({
          isValid: true,
        });
    }
  });

  it('has examples of notices and instructions that the service accepts', async () => {
    const content = document.paths['/v2/rails/{rail}/notices'].post.requestBody.content['application/json'];
    for (const { value } of Object.values<any>(content.examples)) {
      expect(readNotices(value, { rail: value.rail, assets, networks: NETWORKS })).toHaveLength(1);
    }
    const { fault } = await loadValidation();
    expect(fault(instructionsShape(NETWORKS, 'wire'), INSTRUCTIONS)).toBeUndefined();
  });
});
