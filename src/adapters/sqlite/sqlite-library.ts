import { createRequire } from 'node:module';
import type Database from 'better-sqlite3';
import { StoreRefused } from '../../ports/store-refused.ts';

/** The first major version of Node that better-sqlite3 13 runs on; on Node 20 it ends the process. Version 12 ends it from Node 24.19 on. */
const NODE_OF_PREBUILT = 22;

const require = createRequire(import.meta.url);
let library: typeof Database | undefined;

/**
 * Opens a file with the SQLite library that is right for this Node, or makes it. Calls of the library never wait for other processes longer
 * than `timeout` milliseconds (5,000). @throws StoreRefused when the library can't be used; an error with a `code` of SQLite's
 */
export function openSqlite(file: string, options?: Database.Options): Database.Database {
  library ??= loadLibrary();
  return new library(file, options);
}

function loadLibrary(): typeof Database {
  const isPrebuilt = Number.parseInt(process.versions.node, 10) >= NODE_OF_PREBUILT;
  try {
    const loaded: typeof Database = isPrebuilt ? require('better-sqlite3') : require('better-sqlite3-node-20');
    // Its native part is looked for when a file is opened, not before.
    new loaded(':memory:').close();
    return loaded;
  } catch (error) {
    throw new StoreRefused('unusable', problemOf(error, isPrebuilt), { cause: error });
  }
}

/** One line: what is wrong with the library, and the way out. */
function problemOf(error: unknown, isPrebuilt: boolean): string {
  const name = isPrebuilt ? 'better-sqlite3' : 'better-sqlite3-node-20';
  const node = `Node ${process.versions.node} (${process.platform} ${process.arch})`;
  const text = error instanceof Error ? error.message : String(error);
  const [first = ''] = text.split('\n');
  if (text.includes('was compiled against a different Node.js version')) {
    return `the SQLite library ${name} was built for another version of Node than ${node}: run npm rebuild ${name}, or npm ci, with this one`;
  }
  const needs = isPrebuilt
    ? ''
    : ', with its install script allowed, and a C++ compiler and Python where its binary can not be fetched';
  return `the SQLite library ${name} can not be used by ${node}: install edgeward again with this version of Node${needs} (${first})`;
}
