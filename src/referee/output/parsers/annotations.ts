/** The lines that build services read: `::error file=a.ts,line=1,col=2,title=rule::message`. */

export interface AnnotationFields extends Record<string, string | undefined> {
  type: string;
  message: string;
  file?: string;
  line?: string;
  column?: string;
  code?: string;
}

export function readAnnotation(line: string): AnnotationFields | null {
  const start = /^::(error|warning)(?= |::)/.exec(line);
  const end = start === null ? -1 : line.indexOf('::', start[0].length);
  if (start === null || end === -1) return null;
  const pairs = line
    .slice(start[0].length, end)
    .split(',')
    .map((field) => field.split('='));
  const read = new Map(pairs.map(([name = '', ...value]) => [name.trim(), value.join('=')] as const));
  return {
    type: start[1]!,
    message: line.slice(end + 2),
    file: read.get('file'),
    line: read.get('line'),
    column: read.get('col'),
    code: read.get('title'),
  };
}
