import type { Ferry } from '@ferry/client';
import type { ComponentType } from 'react';
import type { IconName } from '~/ui/icon.tsx';
import type { Me } from './session.ts';

/** Repeated parameters of the address are lists, as in the query of an operation. */
export type RawSearch = Readonly<Record<string, string | readonly string[] | undefined>>;
export type Search = Readonly<Record<string, string | readonly string[] | undefined>>;

export type Command = {
  readonly id: string;
  readonly label: string;
  /** Shown at the right: what it is about, or its keys. */
  readonly hint?: string;
  readonly icon?: IconName;
  /** A path below /console, or something to do. */
  readonly run: string | (() => void);
};

export type CommandContext = {
  readonly me: Me;
  /** What the person has typed into the palette. */
  readonly text: string;
};

/**
 * A view with an address of its own. It lives in `screens/<audience>/<name>/screen.ts`, which is found by itself, and loads its
 * component when it is first opened. See console/README.md.
 */
export type Screen = {
  /** Unique, and the name of its screenshots. */
  readonly id: string;
  /** `operator` screens are for people of the operator, `customer` screens for those of a customer and for who looks at one. */
  readonly audience: 'customer' | 'operator' | 'everyone';
  /** Below /console: `/transfers/$id`. Those of the operator start with `/operator`. */
  readonly path: string;
  readonly title: string;
  /** Without all of these, the screen is neither in the navigation nor in the palette. */
  readonly scopes?: readonly string[];
  readonly nav?: {
    readonly group: string;
    /** Among the entries of all groups; groups stand in the order of their first entry. */
    readonly order: number;
    readonly icon: IconName;
    /** `g` and this key open it. */
    readonly key?: string;
  };
  /** What the address may say after `?`; all else is dropped. */
  readonly search?: (raw: RawSearch) => Search;
  readonly load: () => Promise<{ default: ComponentType }>;
  /** What the palette offers beside opening the screen. */
  readonly commands?: (context: CommandContext) => readonly Command[];
  /** For screens with parameters: the path of an example, for screenshots. */
  readonly sample?: (ferry: Ferry) => Promise<string | undefined>;
};

export const defineScreen = (screen: Screen): Screen => screen;

/** A list of the address: `?statuses=PENDING&statuses=FAILED`. */
export function listOf(raw: RawSearch, name: string): readonly string[] | undefined {
  const value = raw[name];
  if (value === undefined || value.length === 0) return undefined;
  return typeof value === 'string' ? [value] : value;
}

export function textOf(raw: RawSearch, name: string): string | undefined {
  const value = raw[name];
  const text = typeof value === 'string' ? value : value?.[0];
  return text === '' ? undefined : text;
}
