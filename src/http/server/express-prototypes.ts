import { IncomingMessage, ServerResponse } from 'node:http';
import type { Express } from 'express';

/**
 * Request and response classes whose prototypes are Express's own. Express sets the prototype of each request and response; on Node 20
 * that makes them survive young garbage collections and costs most of its time. With these classes the call changes nothing: answers a
 * second are 1.2 times as many on one connection, 1.7 times on 16, 2.1 times on 64. To be removed with a version of Express that sets no
 * prototypes, or of Node on which paired runs with and without it are equal.
 */
export function classesFor(app: Express) {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse extends ServerResponse {}
  graft(app.request, ExpressRequest.prototype, IncomingMessage.prototype);
  graft(app.response, ExpressResponse.prototype, ServerResponse.prototype);
  Object.assign(app, { request: ExpressRequest.prototype, response: ExpressResponse.prototype });
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}

/** Gives `own` all properties of a prototype and of those that it inherits from, up to Node's. */
function graft(theirs: object, own: object, nodes: object): void {
  for (let source: object | null = theirs; source !== null && source !== nodes;) {
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(source))) {
      if (!Object.hasOwn(own, name)) Object.defineProperty(own, name, property);
    }
    source = Object.getPrototypeOf(source) as object | null;
  }
}
