#!/bin/sh
# Makes the repository that the plan beside this file is for: a tiny package with no dependencies, and with one test
# that has always failed. Usage: make-repository.sh FOLDER
set -eu
mkdir "${1:?Name the folder to make.}"
cd "$1"
mkdir src test

cat > package.json <<'EOF'
{
  "name": "pulse-demo",
  "version": "0.0.0",
  "private": true,
  "type": "module",
  "exports": "./src/index.js",
  "scripts": { "test": "node --test" }
}
EOF

cat > README.md <<'EOF'
# Titles

Small functions for the titles of a blog.
EOF

cat > src/index.js <<'EOF'
/** "the quick fox" → "The quick fox" */
export function capitalize(title) {
  return title.charAt(0).toUpperCase() + title.slice(1);
}
EOF

cat > test/capitalize.test.js <<'EOF'
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { capitalize } from '../src/index.js';

test('writes the first letter large', () => {
  assert.equal(capitalize('the quick fox'), 'The quick fox');
});

test('looks behind a quotation mark', () => {
  assert.equal(capitalize('"so" it goes'), '"So" it goes');
});
EOF

git init -q -b main
git config user.name "You"
git config user.email "you@example.com"
git add -A
git commit -q -m "chore: titles as they are"
echo "Made $PWD"
