/** Recipes of a justfile. */
import type { Block, Rules } from './targets.ts';

export const justRules: Rules = {
  cut(text) {
    // A text over several lines may hold what looks like a recipe.
    if (/'''|"""|```/.test(text)) return null;
    const blocks: Block[] = [];
    let above = '';
    let recipe: Block | null = null;
    for (const line of text.replace(/\\\n\s*/g, ' ').split('\n')) {
      if (recipe !== null && (/^[ \t]/.test(line) || line.trim() === '')) {
        recipe.text += `${line}\n`;
        recipe.body += `${line.replace(/^\s*[@-]*/, '')}\n`;
        continue;
      }
      // Attributes and comments belong to what they stand above.
      if (/^(?:\[|#(?!!))/.test(line)) {
        recipe = null;
        above += `${line}\n`;
        continue;
      }
      recipe = readRecipe(line, above);
      blocks.push(recipe ?? { text: `${above}${line}\n`, names: null, needs: [], body: '' });
      above = '';
    }
    if (above !== '') blocks.push({ text: above, names: null, needs: [], body: '' });
    return blocks;
  },
};

function readRecipe(line: string, above: string): Block | null {
  const found = /^@?([A-Za-z_][\w-]*)((?:\s+[^:]*)?):(?!=)(.*)$/.exec(line);
  if (found === null || /^(?:set|alias|export|import|mod|unexport)\b/.test(line)) return null;
  const [, name = '', , dependencies = ''] = found;
  const plain = dependencies.replace(/#.*$/, '').replace(/'[^']*'|"[^"]*"/g, ' ');
  const needs = plain.match(/[A-Za-z_][\w-]*/g) ?? [];
  return { text: `${above}${line}\n`, names: [name], needs, body: '' };
}

/** `alias t := test`. */
export function justAliases(text: string): Map<string, string> {
  const found = [...text.matchAll(/^alias\s+([\w-]+)\s*:=\s*([\w-]+)/gm)];
  return new Map(found.map(([, name, target]) => [name!, target!]));
}

export function justImports(text: string): string[] {
  const found = [...text.matchAll(/^(?:import\??\s+['"]([^'"]+)['"]|mod\??\s+\w+\s+['"]([^'"]+)['"])/gm)];
  const modules = [...text.matchAll(/^mod\??\s+(\w+)\s*$/gm)].flatMap(([, name]) => [
    ...[`${name}.just`, `${name}/mod.just`, `${name}/justfile`],
  ]);
  return [...found.map(([, file, module]) => (file ?? module)!), ...modules];
}
