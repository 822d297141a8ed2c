import { describe, expect, it } from 'vitest';
import { isStoreAway } from '../../src/domain/errors.ts';
import { postgresError } from '../../src/store/postgres-errors.ts';

const failure = (code: string): Error => Object.assign(new Error(code), { code });

describe('what PostgreSQL and the network say', () => {
  // A database that is restarted in its container, a lost network, a server out of memory, rows that others want too.
  it.each([
    'ECONNREFUSED',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'ENETDOWN',
    'ECONNABORTED',
    '08006',
    '57P01',
    '57P03',
    '25P03',
    '53100',
    '53200',
    '53300',
    '55P03',
    '57014',
    '58030',
    '40001',
    '40P01',
  ])('%s is an absence that is waited for', (code) => {
    expect(isStoreAway(postgresError(failure(code)))).toBe(true);
  });

  it.each(['28P01', '3D000', '23505', '42P01', '22P02'])('%s is not', (code) => {
    expect(isStoreAway(postgresError(failure(code)))).toBe(false);
  });
});
