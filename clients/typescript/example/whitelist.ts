// Asks for an address of yours elsewhere to be let in.
// usage: EDGEWARD_URL=… EDGEWARD_TOKEN=… node dist/example/whitelist.js ADDRESS REGION FILE
import { readFile } from 'node:fs/promises';
import { asForm, EdgewardError, openEdgeward } from '../src/index.ts';

const { EDGEWARD_URL = 'http://127.0.0.1:8080', EDGEWARD_TOKEN = '' } = process.env;
const [ip = '', region = '', file = ''] = process.argv.slice(2);

const { data, error, response } = await openEdgeward(EDGEWARD_URL, EDGEWARD_TOKEN).POST('/api/v1/source-whitelist', {
  body: { ip, 'regions[]': [region], evidence: new File([await readFile(file)], 'evidence.pdf') },
  bodySerializer: asForm,
});
if (error !== undefined) throw new EdgewardError(response, error.message);
console.log(`${data.data.request_id}: ${data.data.input} ${data.data.status}`);
