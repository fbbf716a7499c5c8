/** What a module says it needs: each specifier once, in order of appearance, however it is imported. */
export type ImportsOf = Readonly<{
  specifiers: readonly string[];
  /** Those of them of which only types are taken: `import type`, `export type`, or `type` before each name. */
  typeOnly: readonly string[];
  /** Dynamic imports whose specifier is computed, and so can't be checked. */
  computed: number;
}>;

/** A source without comments, its texts taken out and numbered: `from "#3"` stands for the fourth text. */
export type MaskedSource = Readonly<{ code: string; texts: readonly string[] }>;

/** Everything that a TypeScript source imports: import and export-from (types too), import(), import types, require. */
export function importsOf(source: string): ImportsOf {
  const { code, texts } = maskSource(source);
  const found = new Set<string>();
  const values = new Set<string>();
  let computed = 0;
  for (const pattern of STATEMENTS) {
    for (const { groups } of code.matchAll(pattern)) {
      const specifier = texts[Number(groups?.['text'])] ?? '';
      found.add(specifier);
      if (!takesTypesOnly(groups?.['clause'] ?? '')) values.add(specifier);
    }
  }
  for (const match of code.matchAll(CALLS)) {
    const at = match.groups?.['text'];
    if (at === undefined) computed += 1;
    else {
      found.add(texts[Number(at)] ?? '');
      values.add(texts[Number(at)] ?? '');
    }
  }
  return { specifiers: [...found], typeOnly: [...found].filter((specifier) => !values.has(specifier)), computed };
}

/** Whether what stands between `import` and `from` names types alone. */
function takesTypesOnly(clause: string): boolean {
  if (/^\s*type\s+[\w*{]/.test(clause)) return true;
  const named = /^\s*\{(?<names>[^}]*)\}\s*$/.exec(clause)?.groups?.['names'];
  const names = named?.split(',').map((name) => name.trim()) ?? [];
  return names.some((name) => name !== '') && names.every((name) => name === '' || /^type\s+\w/.test(name));
}

const STATEMENTS = [
  /(?<![.\w$])(?:import|export)(?![\w$:])(?<clause>[^;"()=]*?[\s}*\w])from\s*"#(?<text>\d+)"/g,
  /(?<![.\w$])import\s*"#(?<text>\d+)"/g,
];
const CALLS = /(?<![.\w$])(?:import|require)\s*\((?!\s*\))(?:\s*"#(?<text>\d+)"\s*[,)])?/g;

/** Blanks comments and replaces every text (quoted, or a template without substitutions) by `"#n"`. */
export function maskSource(source: string): MaskedSource {
  const masker = new Masker(source);
  masker.code('');
  return { code: masker.masked, texts: masker.texts };
}

const BEFORE_REGEX =
  /(?:^|[(,=:[!&|?{};+\-*%~^<>]|\b(?:return|typeof|case|in|of|new|delete|void|throw|do|else|yield|await))\s*$/;

class Masker {
  readonly texts: string[] = [];
  masked = '';
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** Reads code up to the closing bracket of a template's substitution, or to the end. */
  code(until: '' | '}'): void {
    let depth = 0;
    while (this.#at < this.#source.length) {
      const char = this.#source.charAt(this.#at);
      if (until === '}' && depth === 0 && char === '}') return;
      if (char === '{') depth += 1;
      if (char === '}') depth -= 1;
      if (this.#skips('//')) this.#at = this.#indexOf('\n', this.#source.length);
      else if (this.#skips('/*')) this.#blankComment();
      else if (char === "'" || char === '"') this.#quoted(char);
      else if (char === '`') this.#template();
      else if (char === '/' && BEFORE_REGEX.test(this.masked.slice(-40))) this.#regex();
      else this.#take(char);
    }
  }

  #take(char: string): void {
    this.masked += char;
    this.#at += 1;
  }

  #skips(start: string): boolean {
    return this.#source.startsWith(start, this.#at);
  }

  #indexOf(text: string, otherwise: number): number {
    const index = this.#source.indexOf(text, this.#at);
    return index < 0 ? otherwise : index;
  }

  #blankComment(): void {
    const end = this.#source.indexOf('*/', this.#at + 2);
    const stop = end < 0 ? this.#source.length : end + 2;
    // A comment separates words, and its line ends separate statements.
    this.masked += ` ${this.#source.slice(this.#at, stop).replace(/[^\n]/g, '')}`;
    this.#at = stop;
  }

  #quoted(quote: string): void {
    let text = '';
    this.#at += 1;
    for (;;) {
      const char = this.#source.charAt(this.#at);
      this.#at += 1;
      if (char === quote || char === '' || char === '\n') break;
      text += char === '\\' ? this.#escaped() : char;
    }
    this.#number(text);
  }

  #escaped(): string {
    const char = this.#source.charAt(this.#at);
    this.#at += 1;
    return char;
  }

  #number(text: string): void {
    this.masked += `"#${this.texts.length}"`;
    this.texts.push(text);
  }

  #template(): void {
    let text = '';
    this.#at += 1;
    for (;;) {
      const char = this.#source.charAt(this.#at);
      this.#at += 1;
      if (char === '`' || char === '') break;
      if (char === '\\') text += this.#escaped();
      else if (char === '$' && this.#skips('{')) {
        this.#at += 1;
        this.masked += '"#template"+(';
        this.code('}');
        this.#at += 1;
        this.masked += ')+';
      } else text += char;
    }
    this.#number(text);
  }

  #regex(): void {
    let isInClass = false;
    this.masked += '/ /';
    this.#at += 1;
    for (;;) {
      const char = this.#source.charAt(this.#at);
      this.#at += 1;
      if (char === '\\') this.#at += 1;
      else if (char === '[') isInClass = true;
      else if (char === ']') isInClass = false;
      else if ((char === '/' && !isInClass) || char === '' || char === '\n') return;
    }
  }
}
