import { describe, expect, it } from 'vitest';
import { SCOPE_NAMES } from '../auth/scopes.ts';
import { CUSTOMER_ROLES, OPERATOR_ROLES, ROLES, scopesOf } from './roles.ts';

const standing = { isOperator: false, looksAtCustomer: false, simulates: true } as const;

describe('roles', () => {
  it('give every scope to somebody: a new scope needs a role', () => {
    const given = new Set([...Object.values(CUSTOMER_ROLES), ...Object.values(OPERATOR_ROLES)].flat());
    expect(SCOPE_NAMES.filter((scope) => !given.has(scope))).toEqual([]);
  });

  it('of customers give no scope of operators, and no role but the maker moves value', () => {
    const of = (role: (typeof ROLES)[number]) => CUSTOMER_ROLES[role];
    expect(ROLES.flatMap(of).filter((scope) => scope.startsWith('operator:'))).toEqual([]);
    const writers = ROLES.filter((role) =>
      of(role).some((scope) => /^(transfer|settlement|conversion):write/.test(scope)),
    );
    expect(writers).toEqual(['MAKER']);
  });

  it('of operators give nothing of a customer but what reads, and only while one is looked at', () => {
    const all = { ...standing, roles: ROLES, isOperator: true };
    const without = [...scopesOf(all)];
    expect(without.filter((scope) => !/^(operator|people):/.test(scope))).toEqual([]);
    const looking = [...scopesOf({ ...all, looksAtCustomer: true })].filter((one) => !without.includes(one));
    expect(looking.length).toBeGreaterThan(5);
    expect(looking.filter((scope) => !scope.includes(':read_'))).toEqual([]);
  });

  it('give no scope in production that exists in the sandbox only', () => {
    expect(scopesOf({ ...standing, roles: ['MAKER'] }).has('sandbox:simulate')).toBe(true);
    expect(scopesOf({ ...standing, roles: ['MAKER'], simulates: false }).has('sandbox:simulate')).toBe(false);
  });
});
