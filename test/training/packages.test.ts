import { describe, expect, it } from 'vitest';
import { isAllowedExpression, licenceOfCopyright } from '../../training/licences.ts';
import { readList } from '../../training/packages.ts';

const list = readList();

describe('the list of packages', () => {
  it('holds out whole projects, in at least four languages', () => {
    const held = list.filter(({ role }) => role === 'held-out');
    expect(held.length).toBeGreaterThanOrEqual(10);
    expect(new Set(held.map(({ language }) => language)).size).toBeGreaterThanOrEqual(4);
    const learnt = new Set(list.filter(({ role }) => role === 'learn').map(({ project }) => project));
    const others = list.filter(({ role }) => role !== 'learn');
    expect(others.filter(({ project }) => learnt.has(project))).toEqual([]);
  });

  it('has only packages of allowed licences, each with its version', () => {
    const bad = list.filter(
      ({ version, licence }) => !version || !licence.split('; ').every((each) => isAllowedExpression(each)),
    );
    expect(bad).toEqual([]);
  });
});

describe('a licence', () => {
  it.each(['MIT', 'Apache-2.0', 'BSD-3-Clause', '(MIT OR GPL-3.0)', 'Expat and BSD-2-clause'])(
    '%s is allowed',
    (each) => {
      expect(isAllowedExpression(each)).toBe(true);
    },
  );

  it.each(['GPL-3.0', 'MIT AND GPL-2.0', 'ISC', 'MPL-2.0', 'UNLICENSED', ''])('%s is not', (each) => {
    expect(isAllowedExpression(each)).toBe(false);
  });

  it('of one file that is not allowed refuses the whole package', () => {
    const file = (files: string, licence: string) =>
      `Files: ${files}\nCopyright: someone\nLicense: ${licence}\n`;
    expect(licenceOfCopyright([file('*', 'Expat'), file('debian/*', 'GPL-2+')].join('\n'))).toBe('Expat');
    expect(licenceOfCopyright([file('*', 'Expat'), file('lib/x.js', 'GPL-2+')].join('\n'))).toBeNull();
    expect(licenceOfCopyright('This package was debianised by hand.')).toBeNull();
  });
});
