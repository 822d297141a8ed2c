/** Keys of a YAML file that are protected. */
import { parseDocument } from 'yaml';
import { createPart, type Part } from './part.ts';
import { objectOf, readYaml } from './yaml-text.ts';

function yamlKeys(name: string, protects: (key: string) => boolean): Part {
  return createPart({
    name,
    read(content) {
      const value = readYaml(content);
      if (value === null) return null;
      const own = Object.entries(value).filter(([key]) => protects(key));
      return own.map((entry) => JSON.stringify(entry)).join('\n');
    },
    merge(base, claim) {
      const [before, claimed] = [readYaml(base), parseDocument(claim, { logLevel: 'error' })];
      if (before === null || claimed.errors.length > 0) return null;
      for (const key of Object.keys(objectOf(claimed.toJS()))) if (protects(key)) claimed.delete(key);
      for (const [key, value] of Object.entries(before)) if (protects(key)) claimed.set(key, value);
      return claimed.toString();
    },
  });
}

/** Which packages there are and which versions belongs to the work; the rest says how scripts are run. */
export const pnpmWorkspace: Part = yamlKeys(
  'all but packages and versions',
  (key) =>
    !/^(?:packages|catalogs?|onlyBuiltDependencies|ignoredBuiltDependencies|allowBuilds|minimumReleaseAge\w*)$/.test(
      key,
    ),
);
