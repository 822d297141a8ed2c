import type { Ecosystem, Project, Variant } from '../project.ts';
import { cargoProject, goProject } from './compiled.ts';
import { javascriptProject } from './javascript.ts';
import { pythonProject } from './python.ts';

/** `null`: this ecosystem has no such variant. */
export function projectOf(ecosystem: Ecosystem, variant: Variant): Project | null {
  if (variant === 'snapshot' && ecosystem !== 'vitest' && ecosystem !== 'jest') return null;
  if (variant === 'helper' && ecosystem === 'cargo-unit') return null;
  switch (ecosystem) {
    case 'go':
      return goProject(variant);
    case 'cargo':
    case 'cargo-unit':
      return cargoProject(ecosystem, variant);
    case 'pytest':
    case 'unittest':
    case 'make':
      return pythonProject(ecosystem, variant);
    default:
      return javascriptProject(ecosystem, variant);
  }
}
