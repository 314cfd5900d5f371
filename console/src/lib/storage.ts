/** What a reader has chosen in this browser. Storage can be off: then choices last as long as the page. */
export function readStored<Value>(key: string, otherwise: Value): Value {
  try {
    const text = localStorage.getItem(`ferry.${key}`);
    return text === null ? otherwise : (JSON.parse(text) as Value);
  } catch {
    return otherwise;
  }
}

export function store(key: string, value: unknown): void {
  try {
    localStorage.setItem(`ferry.${key}`, JSON.stringify(value));
  } catch {
    // Nothing depends on it.
  }
}
