#!/bin/sh
# Makes the repository that the beads beside this file are for: a tiny package with no dependencies, and with tests that
# ask for a function that is not there yet. Usage: make-repository.sh FOLDER
set -eu
mkdir "${1:?Name the folder to make.}"
cd "$1"
mkdir src test

cat > package.json <<'END'
{
  "name": "pulse-demo",
  "version": "0.0.0",
  "private": true,
  "type": "module",
  "exports": "./src/index.js",
  "scripts": { "test": "node --test" }
}
END

cat > README.md <<'END'
# Titles

Small functions for the titles of a blog.
END

cat > src/index.js <<'END'
/** "the quick fox" → "The quick fox" */
export function capitalize(title) {
  return title.charAt(0).toUpperCase() + title.slice(1);
}
END

cat > test/slugify.test.js <<'END'
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slugify } from '../src/index.js';

test('joins words with dashes', () => {
  assert.equal(slugify('Hello World'), 'hello-world');
});

test('writes letters without their accents', () => {
  assert.equal(slugify('Crème Brûlée'), 'creme-brulee');
});
END

git init -q -b main
git config user.name "You"
git config user.email "you@example.com"
git add -A
git commit -q -m "chore: titles as they are"
echo "Made $PWD"
