import { describe, expect, it } from 'vitest';
import { cleanDoc } from '../../training/clean-doc.ts';
import { takeDocsOut } from '../../training/documented.ts';

describe('what is said of a declaration', () => {
  it.each([
    [
      'a.go',
      '// Renew makes the lease last longer.\nfunc Renew() {\n  x()\n}\n',
      'makes the lease last longer.',
    ],
    [
      'a.py',
      'def renew():\n  """Make the lease last longer.\n\n  More.\n  """\n  x()\n',
      'Make the lease last longer.',
    ],
    [
      'a.rs',
      '/// Makes the lease\n/// last longer.\nfn renew() {\n  x()\n}\n',
      'Makes the lease last longer.',
    ],
    ['a.rb', '# Makes the lease last longer.\ndef renew\n  x\nend\n', 'Makes the lease last longer.'],
    [
      'a.ts',
      '/**\n * Makes the lease last longer.\n * @returns x\n */\nexport function renew() {\n  x();\n}\n',
      'Makes the lease last longer.',
    ],
  ])('is a question, and gone from the source (%s)', async (path, source, question) => {
    const found = await takeDocsOut(path, source);
    expect(found?.documented.map((each) => each.question)).toEqual([question]);
    expect(found?.text).not.toMatch(/longer/);
    expect(found?.text.split('\n').length).toBe(source.split('\n').length);
  });

  it('is no question where it says nothing of the code', () => {
    expect(cleanDoc('// Copyright 2020 The Authors of this', 'x')).toBeNull();
    expect(cleanDoc('// eslint-disable-next-line no-console here', 'x')).toBeNull();
    expect(cleanDoc('// Renew it.', 'renew')).toBeNull();
  });
});
