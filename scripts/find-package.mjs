/** Where Node finds a dependency of the package at `path` of a lock file: next to it, or in a folder further up. */
export function findPackage(packages, path, dependency) {
  for (let from = path; ; from = from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/')))) {
    const found = `${from === '' ? '' : `${from}/`}node_modules/${dependency}`;
    if (found in packages) return found;
    if (from === '') return undefined;
  }
}
