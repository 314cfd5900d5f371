// Prints the software bill of materials of what production installs, as CycloneDX 1.5, from package.json and the lock file.
// `npm sbom --omit=dev` leaves out packages that a developer tool needs as well, such as ajv. The same lock file always gives
// the same text. Usage: npm run --silent sbom > sbom.json
import { readFileSync } from 'node:fs';
import { findPackage } from './find-package.mjs';

const read = (name) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));
const { name, version, license, description } = read('package.json');
const { packages } = read('package-lock.json');

const root = `pkg:npm/${name}@${version}`;
const nameOf = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
const purlOf = (path) => `pkg:npm/${nameOf(path).replace('@', '%40')}@${packages[path].version}`;
const refOf = (path) => (path === '' ? root : purlOf(path));
const licenses = (id) => (id === undefined ? {} : { licenses: [{ license: { id } }] });

/** Packages of this repository are links to folders without `node_modules`. */
const isForeign = (path) => path.includes('node_modules/') && packages[path].link !== true;
const installed = Object.keys(packages).filter(
  (path) => path === '' || (isForeign(path) && packages[path].dev !== true),
);
const components = installed
  .filter((path) => path !== '')
  .map((path) => {
    const { version: itsVersion, license: itsLicense, integrity, optional, cpu, os } = packages[path];
    return {
      type: 'library',
      'bom-ref': refOf(path),
      name: nameOf(path),
      version: itsVersion,
      scope: optional === true ? 'optional' : 'required',
      purl: purlOf(path),
      hashes: [
        { alg: 'SHA-512', content: Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex') },
      ],
      ...licenses(itsLicense),
      ...(os === undefined
        ? {}
        : { properties: [{ name: 'platform', value: [...os, ...(cpu ?? [])].join('-') }] }),
    };
  });

const dependencies = installed.map((path) => {
  const {
    dependencies: required = {},
    optionalDependencies: optional = {},
    peerDependencies: peers = {},
  } = packages[path];
  // The service contains the built console.
  const built = path === '' ? packages.console.dependencies : {};
  const found = Object.keys({ ...required, ...optional, ...peers, ...built }).map((one) =>
    findPackage(packages, path, one),
  );
  return {
    ref: refOf(path),
    dependsOn: [...new Set(found)].filter((one) => installed.includes(one)).map(refOf),
  };
});

const bom = {
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  version: 1,
  metadata: {
    component: {
      type: 'application',
      'bom-ref': root,
      name,
      version,
      description,
      purl: root,
      ...licenses(license),
    },
  },
  components,
  dependencies,
};
console.log(JSON.stringify(bom, null, 2));
