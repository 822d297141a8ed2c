import { expect, it } from 'vitest';
import { namingVariables } from '../../../src/referee/output/telling-environment.ts';

it('asks runners for names, beside what they are asked for already', () => {
  expect(namingVariables({})).toEqual({ GOFLAGS: '-v', PYTEST_ADDOPTS: '-v' });
  expect(namingVariables({ GOFLAGS: '-mod=vendor', PYTEST_ADDOPTS: ' ' })).toEqual({
    GOFLAGS: '-mod=vendor -v',
    PYTEST_ADDOPTS: '-v',
  });
});
