import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createVault, isSealed, newDataKey, UnreadableSecret } from './vault.ts';
import { localWrappingKey } from './wrapping.ts';

const vault = createVault([{ id: 1, key: newDataKey() }]);

describe('a sealed value', () => {
  it('opens at its own place to what was sealed, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (text, place) => {
        const sealed = vault.seal(text, place);
        expect(isSealed(sealed)).toBe(true);
        expect(vault.open(sealed, place)).toBe(Buffer.from(text).toString());
        if (text.length > 3) expect(sealed).not.toContain(text);
      }),
    );
  });

  it('does not open at another place or under another key', () => {
    const sealed = vault.seal('021000021', 'fiat_accounts:1');
    const others = [createVault([{ id: 1, key: newDataKey() }])];
    expect(() => vault.open(sealed, 'fiat_accounts:2')).toThrow(UnreadableSecret);
    for (const other of others) expect(() => other.open(sealed, 'fiat_accounts:1')).toThrow(UnreadableSecret);
  });

  it('does not open if any of its characters was changed', () => {
    const sealed = vault.seal('whsec_1', 'webhooks:1');
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'Q' : 'A'}${sealed.slice(at + 1)}`;
      expect(() => vault.open(changed, 'webhooks:1'), changed).toThrow(UnreadableSecret);
    }
  });

  it('is different each time, so that equal values cannot be recognised', () => {
    expect(vault.seal('Ada', 'a')).not.toBe(vault.seal('Ada', 'a'));
  });

  it('is still readable after a new data key was added, which seals from then on', () => {
    const first = { id: 1, key: newDataKey() };
    const sealed = createVault([first]).seal('Ada', 'a');
    const both = createVault([first, { id: 2, key: newDataKey() }]);
    expect(both.open(sealed, 'a')).toBe('Ada');
    expect(() => createVault([first]).open(both.seal('Ada', 'a'), 'a')).toThrow(/no data key 2/);
    expect(both.digester('x')('Ada')).toBe(createVault([first]).digester('x')('Ada'));
  });
});

describe('a digest', () => {
  it('is the same for the same text and purpose only', () => {
    const digest = vault.digester('ref_id');
    expect(digest('a')).toBe(vault.digester('ref_id')('a'));
    expect(digest('a')).not.toBe(digest('b'));
    expect(digest('a')).not.toBe(vault.digester('amount')('a'));
    expect(digest('a')).not.toBe(createVault([{ id: 1, key: newDataKey() }]).digester('ref_id')('a'));
  });
});

describe('a block', () => {
  it('is encrypted to the same result for the same purpose only, and decrypted again', () => {
    const block = Buffer.from('0123456789abcdef');
    const encrypted = vault.blocks('cursors').encrypt(block);
    expect(encrypted).toHaveLength(16);
    expect(vault.blocks('cursors').encrypt(block)).toEqual(encrypted);
    expect(vault.blocks('cursors').decrypt(encrypted)).toEqual(block);
    expect(vault.blocks('other').encrypt(block)).not.toEqual(encrypted);
  });
});

describe('a wrapping key', () => {
  it('unwraps what it wrapped, and nothing that another key wrapped', async () => {
    const [mine, other] = [localWrappingKey(newDataKey()), localWrappingKey(newDataKey())];
    const key = newDataKey();
    expect(await mine.unwrap(await mine.wrap(key))).toEqual(key);
    await expect(mine.unwrap(await other.wrap(key))).rejects.toThrow(UnreadableSecret);
    expect(mine.id).not.toBe(other.id);
  });
});
