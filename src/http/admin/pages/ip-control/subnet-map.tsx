import type { JSX } from 'preact';
import { formatCidr, networkAddress } from '../../../../addresses/cidr.ts';
import { formatAddress } from '../../../../addresses/address.ts';
import type { CellState, SubnetMap } from '../../../../domain/ip-control/subnet-map.ts';
import { count, countOf } from '../parts/text.tsx';

/** In the order of the legend. */
const STATES = ['enabled', 'few', 'many', 'disabled', 'to-disable', 'to-enable'] as const;

const NAMES: Readonly<Record<CellState, string>> = {
  enabled: 'enabled',
  few: 'less than half disabled',
  many: 'half or more disabled',
  disabled: 'disabled',
  'to-disable': 'to be disabled',
  'to-enable': 'to be enabled',
};

/** Where only differences are drawn. */
const NAMES_OF_DIFFERENCES: Readonly<Record<CellState, string>> = { ...NAMES, enabled: 'no difference' };

const SQUARE_PIXELS = 22;
const CURVE_PIXELS = 576;
const LABEL_PIXELS = 8;
const FIRST_BASELINE = 15;

type DrawingProps = Readonly<{
  map: SubnetMap;
  /** Where a block of it is looked at. */
  hrefOf: (block: string) => string;
  isDifference: boolean;
}>;

/** A block as an SVG drawing: one path a state, which shows without a script where a sixteenth leads. */
export function MapDrawing({ map, hrefOf, isDifference }: DrawingProps): JSX.Element {
  const { block, columns, rows, isCurve, cellLength, parts } = map;
  const cell = isCurve ? CURVE_PIXELS / columns : SQUARE_PIXELS;
  const labels = isCurve ? [] : rowLabels(map);
  const left = labels.length === 0 ? 0 : Math.max(...labels.map(({ length }) => length)) * LABEL_PIXELS + 8;
  const [width, height] = [left + columns * cell, rows * cell];
  const name = `Map of ${formatCidr(block)}, ${isCurve ? `a cell is a /${cellLength}` : 'a cell is an address'}`;
  const names = isDifference ? NAMES_OF_DIFFERENCES : NAMES;
  const data = {
    'data-version': block.version,
    'data-first': String(networkAddress(block).value),
    'data-length': cellLength,
    'data-columns': columns,
    'data-rows': rows,
    'data-left': left,
    'data-into': isCurve ? hrefOf('') : undefined,
  };
  return (
    <figure class="map">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group" aria-label={name} {...data}>
        <Hatch />
        {labels.map((label, row) => (
          <text key={label} x={left - 8} y={row * cell + FIRST_BASELINE} text-anchor="end">
            {label}
          </text>
        ))}
        {pathsOf(map, cell, left).map(({ state, path }) => (
          <>
            <path class={`cell ${state}`} d={path} data-state={names[state]} />
            {state === 'to-disable' || state === 'to-enable' ? <path d={path} fill="url(#hatch)" /> : null}
          </>
        ))}
        {parts.map(({ block: part, x, y, columns: across, rows: down }) => (
          <a key={formatCidr(part)} href={hrefOf(formatCidr(part))} aria-label={formatCidr(part)}>
            <title>{formatCidr(part)}</title>
            <rect class="part" x={x * cell} y={y * cell} width={across * cell} height={down * cell} />
          </a>
        ))}
      </svg>
      <figcaption>
        <Legend map={map} names={names} />
        <output class="dim" id="pointed-at" />
      </figcaption>
    </figure>
  );
}

/** Lines over what is on its way: the colour is not alone. */
function Hatch(): JSX.Element {
  return (
    <defs>
      <pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect class="hatch" width="2" height="5" />
      </pattern>
    </defs>
  );
}

/** The first address of each row: all of it for IPv4, its end for IPv6, where the block says the rest. */
function rowLabels({ block, rows }: SubnetMap): readonly string[] {
  const first = networkAddress(block);
  return Array.from({ length: rows }, (_, row) => {
    if (first.version === 4) return formatAddress({ version: 4, value: first.value + row * 16 });
    const text = formatAddress({ version: 6, value: first.value + BigInt(row * 16) });
    return `:${text.split(':').at(-1) || '0'}`;
  });
}

/** The cells of each state as one path; neighbours in a row of a curve are one rectangle. */
function pathsOf(
  { cells, columns, rows, isCurve }: SubnetMap,
  cell: number,
  left: number,
): readonly Readonly<{ state: CellState; path: string }>[] {
  const byPlace = new Map(cells.map(({ x, y, state }) => [y * columns + x, state]));
  const gap = isCurve ? 0 : 1;
  const paths = new Map<CellState, string>();
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns;) {
      const state = byPlace.get(y * columns + x) ?? 'enabled';
      let end = x + 1;
      if (isCurve) while (end < columns && byPlace.get(y * columns + end) === state) end += 1;
      const width = (end - x) * cell - gap;
      const box = `M${left + x * cell} ${y * cell}h${width}v${cell - gap}h-${width}z`;
      paths.set(state, (paths.get(state) ?? '') + box);
      x = end;
    }
  }
  return [...paths].map(([state, path]) => ({ state, path }));
}

function Legend({
  map: { cells, isCurve },
  names,
}: Readonly<{ map: SubnetMap; names: Readonly<Record<CellState, string>> }>): JSX.Element {
  const states = STATES.map((state) => ({
    state,
    shown: cells.filter((cell) => cell.state === state).length,
  }));
  return (
    <ul class="legend">
      {states
        .filter(({ shown }) => shown > 0)
        .map(({ state, shown }) => (
          <li key={state}>
            <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
              <rect class={`cell ${state}`} width="14" height="14" />
              {state === 'to-disable' || state === 'to-enable' ? (
                <rect width="14" height="14" fill="url(#hatch)" />
              ) : null}
            </svg>
            {names[state]} <span class="dim">{isCurve ? countOf(shown, 'cell') : addressesOf(shown)}</span>
          </li>
        ))}
    </ul>
  );
}

/** `1 address`, `2 addresses`. */
export function addressesOf(value: number | bigint): string {
  return `${count(value)} ${BigInt(value) === 1n ? 'address' : 'addresses'}`;
}
