/** Members of a JSON file that are protected, by their keys. */
import {
  canonical,
  isObject,
  type JsonObject,
  type JsonValue,
  type Member,
  memberOf,
  readJsonObject,
} from './json-text.ts';
import { createPart, type Part } from './part.ts';

/** What of an object is protected: all of a member, or what its own keys say. */
export type Protected = (key: string, value: JsonValue) => boolean | Protected;

export function jsonMembers(name: string, protects: Protected): Part {
  return createPart({
    name,
    read(content) {
      const object = readJsonObject(content);
      return object && protectedText(object, protects);
    },
    merge(base, claim) {
      const claimed = readJsonObject(claim);
      // No file at the base: nothing of it is protected.
      const from = base === '' ? '{}' : base;
      const before = readJsonObject(from);
      if (claimed === null || before === null) return null;
      const merged = mergeObjects({ text: from, object: before }, { text: claim, object: claimed }, protects);
      return `${claim.slice(0, claimed.start)}${merged}${claim.slice(claimed.end)}`;
    },
  });
}

/** One line a member; members that say nothing leave no line. */
function protectedText(object: JsonObject, protects: Protected, prefix = ''): string {
  return object.members
    .flatMap(({ key, value }) => {
      const rule = protects(key, value);
      const name = `${prefix}${JSON.stringify(key)}`;
      if (typeof rule === 'function' && isObject(value)) {
        const inner = protectedText(value, rule, `${name}.`);
        return inner === '' ? [] : [inner];
      }
      return rule === false ? [] : [`${name}: ${canonical(value)}`];
    })
    .join('\n');
}

interface Source {
  text: string;
  object: JsonObject;
}

/** Laid out again member by member; what stands in a member keeps its layout. */
function mergeObjects(base: Source, claim: Source, protects: Protected): string {
  const kept = claim.object.members.flatMap((member) => {
    const rule = protects(member.key, member.value);
    const before = memberOf(base.object, member.key);
    if (rule === false) return isProtected(before, protects) ? [] : [written(claim, member)];
    if (typeof rule === 'function' && isObject(member.value)) {
      return [mergedMember({ base, claim, member, rule })];
    }
    return before !== undefined && isProtected(before, protects) ? [written(base, before)] : [];
  });
  const missing = base.object.members.flatMap((member) => {
    const claimed = memberOf(claim.object, member.key);
    const rule = protects(member.key, member.value);
    if (rule === false || (claimed !== undefined && protects(claimed.key, claimed.value) !== false))
      return [];
    return [written(base, member)];
  });
  const indent = indentOf(claim);
  const inside = [...kept, ...missing].map((text) => `${indent}  ${text}`);
  return inside.length === 0 ? '{}' : `{\n${inside.join(',\n')}\n${indent}}`;
}

function mergedMember({
  base,
  claim,
  member,
  rule,
}: {
  base: Source;
  claim: Source;
  member: Member;
  rule: Protected;
}): string {
  const before = memberOf(base.object, member.key)?.value;
  // In the base it was no object: then all of it was protected.
  if (before !== undefined && !isObject(before)) return written(base, memberOf(base.object, member.key)!);
  const object = before ?? { kind: 'object', members: [], start: 0, end: 0 };
  const merged = mergeObjects(
    { text: base.text, object },
    { text: claim.text, object: member.value as JsonObject },
    rule,
  );
  return `${JSON.stringify(member.key)}: ${merged}`;
}

function isProtected(member: Member | undefined, protects: Protected): boolean {
  return member !== undefined && protects(member.key, member.value) !== false;
}

function written({ text }: Source, { key, start, end }: Member): string {
  return `${JSON.stringify(key)}: ${text.slice(start, end)}`;
}

/** The blanks before the line in which the object begins. */
function indentOf({ text, object }: Source): string {
  const line = text.slice(text.lastIndexOf('\n', object.start) + 1, object.start);
  return /^[ \t]*/.exec(line)![0];
}
