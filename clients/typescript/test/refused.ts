// What the types refuse: compiling fails where one of these would be taken. It is not run.
import { openEdgeward, type paths } from '../src/index.ts';

const edgeward = openEdgeward('', '');

type Bulk = paths['/api/v1/ips/bulk']['post']['requestBody']['content']['application/json'];

// @ts-expect-error one of ips, range and cidr
const none: Bulk = { action: 'disable' };
// @ts-expect-error not an action
const destroyed: Bulk = { action: 'destroy', cidr: '203.0.113.0/28' };
// @ts-expect-error not a path
const nothing = edgeward.GET('/api/v1/nothing');

export { destroyed, none, nothing };
