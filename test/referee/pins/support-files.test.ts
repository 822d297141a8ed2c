import { describe, expect, it } from 'vitest';
import { findPins } from '../../../src/referee/pins/pins.ts';

async function pinned(command: string, files: Record<string, string>): Promise<string[]> {
  const tree = { paths: Object.keys(files), read: async (path: string) => files[path] ?? null };
  const pins = await findPins({ commands: [command], tree });
  const isWhole = (path: string) => pins.of(path)?.kind === 'test' && pins.of(path)?.part === null;
  return Object.keys(files).filter(isWhole);
}

describe('a helper of tests outside of their folders', () => {
  it('is protected, and the code under test is not', async () => {
    const files = {
      'package.json': '{"scripts":{"test":"node --test"}}',
      'src/price.js': "import assert from 'node:assert';\nexport const price = 1;\n",
      'tools/expect-price.js':
        "import assert from 'node:assert';\nexport const expectPrice = assert.equal;\n",
      'lib/kit.ts': "import { expect } from 'vitest';\nexport const same = expect;\n",
      'lib/other.ts': "import { expect } from 'vitest';\n",
      'test/a.test.js':
        "import { price } from '../src/price.js';\nimport { expectPrice } from '../tools/expect-price.js';\nimport '../lib/kit.js';\n",
    };
    expect(await pinned('npm test', files)).toEqual([
      'tools/expect-price.js',
      'lib/kit.ts',
      'test/a.test.js',
    ]);
  });

  it('is found in Python and Go', async () => {
    const python = {
      'shop/price.py': 'def price():\n    raise ValueError\n',
      'shop/expecting.py': 'def expect(a, b):\n    assert a == b\n',
      'tests/test_price.py': 'from shop.price import price\nfrom shop import expecting\n',
    };
    expect(await pinned('pytest', python)).toEqual(['shop/expecting.py', 'tests/test_price.py']);
    const go = {
      'go.mod': 'module shop\n',
      'price/price.go': 'package price\n',
      'internal/expect/expect.go': 'package expect\n\nimport "testing"\n',
      'price/price_test.go': 'package price\n\nimport (\n\t"testing"\n\t"shop/internal/expect"\n)\n',
    };
    expect(await pinned('go test ./...', go)).toEqual(['internal/expect/expect.go', 'price/price_test.go']);
  });

  it('is found in Rust, as a module of the test and as one of the crate', async () => {
    const same = 'pub fn same(a: i64, b: i64) {\n    assert_eq!(a, b);\n}\n';
    const rust = {
      'Cargo.toml': '[package]\nname = "shop"\n',
      'src/price.rs': 'pub fn price() -> i64 {\n    assert!(true);\n    1\n}\n',
      'src/testing/mod.rs': same,
      'src/testing/other.rs': same,
      'tools/compare.rs': same,
      'tools/free.rs': same,
      'tests/price.rs':
        '#[path = "../tools/compare.rs"]\nmod compare;\nuse shop::price::price;\nuse shop::testing::same;\n',
    };
    expect(await pinned('cargo test', rust)).toEqual([
      'src/testing/mod.rs',
      'tools/compare.rs',
      'tests/price.rs',
    ]);
  });
});
