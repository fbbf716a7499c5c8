// Made by generate.mjs; don't edit.

export interface paths {
    "/api/v1/ips/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Disable an address
         * @description Takes one address out of service: all traffic to it is dropped at the routers of its region. An address that is disabled already is a success, and only its `until` and its grounds change.
         *
         *     The answer comes as soon as the change is recorded. The routers of the region follow with the next commit: two minutes after your last change there, unless your network has set another time; `meta.pending_changes` says how many addresses they still have to follow with.
         *
         *     With `until` it is enabled by itself then. A later disable without `until` makes it permanent, one with another `until` replaces it, an enable ends it. `?dry_run=true` answers what would be, with the length that the list would have in each region, and records nothing. `synchronous: true` deploys inside the request and says in `meta.commit_status` how that went; 403 where your account does not allow it.
         *
         *     404 `IP … not found in your account.`: the address is in none of your subnets. 422 `this change needs … prefixes in …; at most … are possible.` where the list of a router would become too long: then change a block in place of scattered addresses.
         */
        post: operations["postIpsDisable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/ips/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enable an address
         * @description Puts one address back into service, whatever it was disabled for. An address that is enabled already is a success and changes nothing.
         *
         *     The answer comes as soon as the change is recorded. The routers of the region follow with the next commit: two minutes after your last change there, unless your network has set another time; `meta.pending_changes` says how many addresses they still have to follow with.
         *
         *     `?dry_run=true` answers what would be, with the length that the list would have in each region, and records nothing. `synchronous: true` deploys inside the request and says in `meta.commit_status` how that went; 403 where your account does not allow it.
         *
         *     404 `IP … not found in your account.`: the address is in none of your subnets.
         */
        post: operations["postIpsEnable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/ips/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Disable or enable many addresses at once
         * @description Changes a list of up to 10,000 addresses (`ips`), a range (`range`), or a network (`cidr`) of any size; exactly one of the three. It is atomic: all of it is recorded, or nothing. `data.changed` counts the addresses that were not so before; it can be above 2^53.
         *
         *     One address of `ips` that is not yours refuses the whole call (422, by its place: `ips.3`). Of a range or a network, addresses that are not yours are passed over.
         *
         *     The answer comes as soon as the change is recorded. The routers of the region follow with the next commit: two minutes after your last change there, unless your network has set another time; `meta.pending_changes` says how many addresses they still have to follow with.
         *
         *     `until` goes with `disable` only. `?dry_run=true` answers what would be, with the length that the list would have in each region, and records nothing. `synchronous: true` deploys inside the request and says in `meta.commit_status` how that went; 403 where your account does not allow it.
         *
         *     422 `this change needs … prefixes in …; at most … are possible.` where the list of a router would become too long: then change a block in place of scattered addresses. 413 for a body above 1 MiB.
         */
        post: operations["postIpsBulk"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/subnets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your subnets
         * @description All of them, with how many of their addresses are enabled, disabled and pending. The counts are exact integers, and those of an IPv6 subnet are above 2^53: ask with `?numbers=string` where your JSON reader has doubles only (JavaScript, jq) or refuses them (Go).
         */
        get: operations["getSubnets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/subnets/{subnet_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the addresses of a subnet
         * @description Each address with its status. A subnet of more than 65,536 addresses lists only those that are disabled or pending. Long lists come in pages: `?limit=` (1 to 65,536) and `?after=` with the `meta.next_after` of the page before, which is missing on the last page.
         *
         *     `?view=ranges` answers maximal runs of addresses with the same status in place of single ones: complete and short for a subnet of any size, and the better choice for programs. A range that is disabled for a time has `disabled_until`; in a list each address has it with `?fields=until`.
         *
         *     403 `subnet does not belong to your account.` for a subnet of another customer, 404 where there is none.
         */
        get: operations["getSubnetsSubnetId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/subnets/{subnet_id}/pending": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show what routers still have to follow with
         * @description The same shape as the subnet itself, only with what is pending. `meta.pending_changes` is 0 when all routers of the region have everything.
         *
         *     With `?wait=PT30S` (at most a minute) it answers when all is deployed, when the count is another than it was, or when the time is over; it counts as one request of your limit however long it waits. Ask again until the count is 0: at a quiet period of two minutes that takes about six requests.
         */
        get: operations["getSubnetsSubnetIdPending"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/commits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your commits
         * @description A commit puts one of your lists, as it is then, on all routers of a region. Newest first, in pages: while `meta.next_after` is not null, the same request with it as `after` has the next ones. `region` is the name or the number of one; one that you have nothing in gives an empty list, one that there is not is refused (422).
         *
         *     A commit that has failed is tried again by itself, with the same `commit_set_id` and a higher `attempt`; `reason` says meanwhile why it has not succeeded.
         */
        get: operations["getCommits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/commits/{commit_set_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a commit
         * @description One of your commits by its `commit_set_id`, as webhooks and `GET /commits` name it. 404 where there is none of that id, or it is of another account.
         */
        get: operations["getCommitsCommitSetId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook-deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the notifications that you were to be sent
         * @description What your webhook was to be told, with each try and what became of it. Newest first, in pages: while `meta.next_after` is not null, the same request with it as `after` has the next ones. `given_up`: the first try and three more, 30 seconds apart, have failed, and nothing more is sent by itself; redeliver it, or look at `GET /commits`.
         */
        get: operations["getWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook-deliveries/{id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a notification again
         * @description The same body and `webhook-id`, signed at its new time, after what is still to be sent for its region. 202: it is on its way; the list of deliveries says how it went. Your receiver knows it again by `webhook-id`. 404 where there is no such delivery of yours; 409 `your account has no webhook URL.` where none is set.
         */
        post: operations["postWebhookDeliveriesIdRedeliver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/source-whitelist": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your whitelist requests
         * @description Newest first, rejected ones too, removed ones not. `meta.used` counts those that are neither, `meta.limit` how many you may have. 403 where your account may not use the source whitelist.
         */
        get: operations["getSourceWhitelist"];
        put?: never;
        /**
         * Ask for addresses to be whitelisted as sources
         * @description Names one IPv4 address (`ip`), a range (`range[start]` and `range[end]`) or a network (`cidr`) of up to 256 addresses outside of your subnets, the regions whose firewall is to accept traffic from there, and a file that proves that they are yours: jpg, jpeg, png or pdf, up to 5 MB unless your operator has set another limit. An administrator reviews it, unless your account is trusted.
         *
         *     201: submitted. 200: you have asked for exactly the same before, and get that request. 422 names the field, or the rule: the limit of your account, a prefix broader than /24, reserved address space, an overlap with an entry that you have in one of the regions. 403 where your account may not use the source whitelist.
         */
        post: operations["postSourceWhitelist"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/source-whitelist/{request_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Take a whitelist request back
         * @description In all of its regions, whatever its status: what is on routers goes with the next commit. A second time it is 404, like a request of another account.
         */
        delete: operations["deleteSourceWhitelistRequestId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    commitCompleted: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A commit of one of your lists has completed
         * @description Signed after Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @constant */
                        event: "commit_completed";
                        /** Format: uuid */
                        commit_set_id: string;
                        customer: string;
                        prefix_list_name: string;
                        region: string;
                        /** @enum {string} */
                        status: "success" | "failed";
                        /** Format: date-time */
                        completed_at: string;
                    };
                };
            };
            responses: {
                /** @description Delivered; any other answer is tried again. */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    test: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Your administrator tries whether you can be reached; it names no commit, and is sent once
         * @description Signed after Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @constant */
                        event: "test";
                        /** Format: uuid */
                        commit_set_id: string;
                        customer: string;
                        prefix_list_name: string;
                        region: string;
                        /** @enum {string} */
                        status: "success";
                        /** Format: date-time */
                        completed_at: string;
                    };
                };
            };
            responses: {
                /** @description Delivered; any other answer is tried again. */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: never;
    responses: {
        /** @description The request could not be read. */
        400: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    message: string;
                };
            };
        };
        /** @description There is no valid token. */
        401: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    message: string;
                };
            };
        };
        /** @description The account or the token may not do this. */
        403: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    message: string;
                };
            };
        };
        /** @description There is no such thing, or it is of another account. */
        404: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    message: string;
                };
            };
        };
        /** @description It does not go with what is there. */
        409: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    message: string;
                };
            };
        };
        /** @description The body is too large. */
        413: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    message: string;
                };
            };
        };
        /** @description The body has a type that is not taken. */
        415: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    message: string;
                };
            };
        };
        /** @description A field is not right; the message names it. */
        422: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    message: string;
                    errors?: {
                        [key: string]: string[];
                    };
                };
            };
        };
        /** @description Too many requests; `Retry-After` says when to go on. */
        429: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    message: string;
                    retry_after: number;
                };
            };
        };
        /** @description The service has failed. */
        500: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    message: string;
                };
            };
        };
        /** @description A store is away; `Retry-After` says when to try again. */
        503: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    message: string;
                };
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description Names the request in the events and the log; yours, where you have sent one. */
        "X-Request-Id": string;
        /** @description Requests a minute. */
        "X-RateLimit-Limit": number;
        /** @description Requests that are left of them. */
        "X-RateLimit-Remaining": number;
        /** @description When the minute ends and all of them are left again, in seconds since 1970. Missing where you are not counted. */
        "X-RateLimit-Reset": number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    postIpsDisable: {
        parameters: {
            query?: {
                /** @description Whether nothing is recorded, and only what would be is answered. */
                dry_run?: "true" | "false";
                /** @description `string`: counts are decimal text, exact for every reader of JSON. */
                numbers?: "string";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "ip": "203.0.113.7",
                 *       "until": "PT4H",
                 *       "reason": "DDoS on the web server",
                 *       "ticket": "NET-4711"
                 *     }
                 */
                "application/json": {
                    /** @description One address; IPv4 as four decimal numbers, IPv6 in any form of RFC 4291. */
                    ip: string;
                    /**
                     * @description Whether the request waits for the routers.
                     * @default false
                     */
                    synchronous?: boolean;
                    /** @description Why, for the record: up to 500 characters. */
                    reason?: string;
                    /** @description The ticket that it is done for: up to 100 characters. */
                    ticket?: string;
                    /** @description When the addresses are enabled by themselves: an instant with offset, or an ISO 8601 duration from now, such as `PT4H`; at most 90 days off. */
                    until?: string;
                };
            };
        };
        responses: {
            /** @description As asked. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "address": "203.0.113.7",
                     *         "status": "disabled",
                     *         "pending_change": true
                     *       },
                     *       "meta": {
                     *         "pending_changes": 1
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description What was asked for. */
                        data: {
                            /** @description An address; IPv6 as RFC 5952 writes it. */
                            address: string;
                            /**
                             * @description How it is now.
                             * @constant
                             */
                            status: "disabled";
                            /** @description Whether routers still have to follow. */
                            pending_change: boolean;
                        };
                        /** @description What is to be said about the answer. */
                        meta: {
                            /** @description How many addresses the routers still have to follow with. Exact, also above 2^53. */
                            pending_changes: number;
                        } | {
                            /**
                             * @description Whether nothing is recorded, and only what would be is answered.
                             * @constant
                             */
                            dry_run: true;
                            /** @description How many addresses the routers still have to follow with. Exact, also above 2^53. */
                            pending_changes: number;
                            /** @description How many prefixes the list would have, by the name of the region. */
                            prefixes: {
                                [key: string]: number;
                            };
                        } | {
                            /**
                             * @description Whether the request waits for the routers.
                             * @constant
                             */
                            synchronous: true;
                            /**
                             * @description `success`: nothing is pending in the regions concerned. `failed`: a router failed; the change stays recorded, and is tried again. `in_progress`: waiting timed out, and the deployment goes on.
                             * @enum {string}
                             */
                            commit_status: "success" | "failed" | "in_progress";
                            /** @description How many addresses the routers still have to follow with. Exact, also above 2^53. */
                            pending_changes: number;
                        };
                    };
                    "application/json; numbers=string": {
                        /** @description What was asked for. */
                        data: {
                            /** @description An address; IPv6 as RFC 5952 writes it. */
                            address: string;
                            /**
                             * @description How it is now.
                             * @constant
                             */
                            status: "disabled";
                            /** @description Whether routers still have to follow. */
                            pending_change: boolean;
                        };
                        /** @description What is to be said about the answer. */
                        meta: {
                            /** @description How many addresses the routers still have to follow with. Exact, in decimal digits. */
                            pending_changes: string;
                        } | {
                            /**
                             * @description Whether nothing is recorded, and only what would be is answered.
                             * @constant
                             */
                            dry_run: true;
                            /** @description How many addresses the routers still have to follow with. Exact, in decimal digits. */
                            pending_changes: string;
                            /** @description How many prefixes the list would have, by the name of the region. */
                            prefixes: {
                                [key: string]: number;
                            };
                        } | {
                            /**
                             * @description Whether the request waits for the routers.
                             * @constant
                             */
                            synchronous: true;
                            /**
                             * @description `success`: nothing is pending in the regions concerned. `failed`: a router failed; the change stays recorded, and is tried again. `in_progress`: waiting timed out, and the deployment goes on.
                             * @enum {string}
                             */
                            commit_status: "success" | "failed" | "in_progress";
                            /** @description How many addresses the routers still have to follow with. Exact, in decimal digits. */
                            pending_changes: string;
                        };
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    postIpsEnable: {
        parameters: {
            query?: {
                /** @description Whether nothing is recorded, and only what would be is answered. */
                dry_run?: "true" | "false";
                /** @description `string`: counts are decimal text, exact for every reader of JSON. */
                numbers?: "string";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "ip": "203.0.113.7"
                 *     }
                 */
                "application/json": {
                    /** @description One address; IPv4 as four decimal numbers, IPv6 in any form of RFC 4291. */
                    ip: string;
                    /**
                     * @description Whether the request waits for the routers.
                     * @default false
                     */
                    synchronous?: boolean;
                    /** @description Why, for the record: up to 500 characters. */
                    reason?: string;
                    /** @description The ticket that it is done for: up to 100 characters. */
                    ticket?: string;
                };
            };
        };
        responses: {
            /** @description As asked. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "address": "203.0.113.7",
                     *         "status": "enabled",
                     *         "pending_change": true
                     *       },
                     *       "meta": {
                     *         "pending_changes": 16
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description What was asked for. */
                        data: {
                            /** @description An address; IPv6 as RFC 5952 writes it. */
                            address: string;
                            /**
                             * @description How it is now.
                             * @constant
                             */
                            status: "enabled";
                            /** @description Whether routers still have to follow. */
                            pending_change: boolean;
                        };
                        /** @description What is to be said about the answer. */
                        meta: {
                            /** @description How many addresses the routers still have to follow with. Exact, also above 2^53. */
                            pending_changes: number;
                        } | {
                            /**
                             * @description Whether nothing is recorded, and only what would be is answered.
                             * @constant
                             */
                            dry_run: true;
                            /** @description How many addresses the routers still have to follow with. Exact, also above 2^53. */
                            pending_changes: number;
                            /** @description How many prefixes the list would have, by the name of the region. */
                            prefixes: {
                                [key: string]: number;
                            };
                        } | {
                            /**
                             * @description Whether the request waits for the routers.
                             * @constant
                             */
                            synchronous: true;
                            /**
                             * @description `success`: nothing is pending in the regions concerned. `failed`: a router failed; the change stays recorded, and is tried again. `in_progress`: waiting timed out, and the deployment goes on.
                             * @enum {string}
                             */
                            commit_status: "success" | "failed" | "in_progress";
                            /** @description How many addresses the routers still have to follow with. Exact, also above 2^53. */
                            pending_changes: number;
                        };
                    };
                    "application/json; numbers=string": {
                        /** @description What was asked for. */
                        data: {
                            /** @description An address; IPv6 as RFC 5952 writes it. */
                            address: string;
                            /**
                             * @description How it is now.
                             * @constant
                             */
                            status: "enabled";
                            /** @description Whether routers still have to follow. */
                            pending_change: boolean;
                        };
                        /** @description What is to be said about the answer. */
                        meta: {
                            /** @description How many addresses the routers still have to follow with. Exact, in decimal digits. */
                            pending_changes: string;
                        } | {
                            /**
                             * @description Whether nothing is recorded, and only what would be is answered.
                             * @constant
                             */
                            dry_run: true;
                            /** @description How many addresses the routers still have to follow with. Exact, in decimal digits. */
                            pending_changes: string;
                            /** @description How many prefixes the list would have, by the name of the region. */
                            prefixes: {
                                [key: string]: number;
                            };
                        } | {
                            /**
                             * @description Whether the request waits for the routers.
                             * @constant
                             */
                            synchronous: true;
                            /**
                             * @description `success`: nothing is pending in the regions concerned. `failed`: a router failed; the change stays recorded, and is tried again. `in_progress`: waiting timed out, and the deployment goes on.
                             * @enum {string}
                             */
                            commit_status: "success" | "failed" | "in_progress";
                            /** @description How many addresses the routers still have to follow with. Exact, in decimal digits. */
                            pending_changes: string;
                        };
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    postIpsBulk: {
        parameters: {
            query?: {
                /** @description Whether nothing is recorded, and only what would be is answered. */
                dry_run?: "true" | "false";
                /** @description `string`: counts are decimal text, exact for every reader of JSON. */
                numbers?: "string";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "action": "disable",
                 *       "cidr": "203.0.113.0/28"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description What is done with the addresses.
                     * @enum {string}
                     */
                    action: "enable" | "disable";
                    /**
                     * @description Whether the request waits for the routers.
                     * @default false
                     */
                    synchronous?: boolean;
                    /** @description 1 to 10,000 addresses, all of them yours. */
                    ips: (string)[];
                    /** @description Why, for the record: up to 500 characters. */
                    reason?: string;
                    /** @description The ticket that it is done for: up to 100 characters. */
                    ticket?: string;
                    /** @description When the addresses are enabled by themselves: an instant with offset, or an ISO 8601 duration from now, such as `PT4H`; at most 90 days off. */
                    until?: string;
                } | {
                    /**
                     * @description What is done with the addresses.
                     * @enum {string}
                     */
                    action: "enable" | "disable";
                    /**
                     * @description Whether the request waits for the routers.
                     * @default false
                     */
                    synchronous?: boolean;
                    /** @description All addresses from `start` to `end`, both included. */
                    range: {
                        /** @description The first address. */
                        start: string;
                        /** @description The last address. */
                        end: string;
                    };
                    /** @description Why, for the record: up to 500 characters. */
                    reason?: string;
                    /** @description The ticket that it is done for: up to 100 characters. */
                    ticket?: string;
                    /** @description When the addresses are enabled by themselves: an instant with offset, or an ISO 8601 duration from now, such as `PT4H`; at most 90 days off. */
                    until?: string;
                } | {
                    /**
                     * @description What is done with the addresses.
                     * @enum {string}
                     */
                    action: "enable" | "disable";
                    /**
                     * @description Whether the request waits for the routers.
                     * @default false
                     */
                    synchronous?: boolean;
                    /**
                     * Format: cidr
                     * @description A network, with no host bits set: `203.0.113.0/28`.
                     */
                    cidr: string;
                    /** @description Why, for the record: up to 500 characters. */
                    reason?: string;
                    /** @description The ticket that it is done for: up to 100 characters. */
                    ticket?: string;
                    /** @description When the addresses are enabled by themselves: an instant with offset, or an ISO 8601 duration from now, such as `PT4H`; at most 90 days off. */
                    until?: string;
                };
            };
        };
        responses: {
            /** @description As asked. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "changed": 15,
                     *         "action": "disable"
                     *       },
                     *       "meta": {
                     *         "pending_changes": 16
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description What was asked for. */
                        data: {
                            /** @description How many addresses were not so before. Exact, also above 2^53. */
                            changed: number;
                            /**
                             * @description What is done with the addresses.
                             * @enum {string}
                             */
                            action: "enable" | "disable";
                        };
                        /** @description What is to be said about the answer. */
                        meta: {
                            /** @description How many addresses the routers still have to follow with. Exact, also above 2^53. */
                            pending_changes: number;
                        } | {
                            /**
                             * @description Whether nothing is recorded, and only what would be is answered.
                             * @constant
                             */
                            dry_run: true;
                            /** @description How many addresses the routers still have to follow with. Exact, also above 2^53. */
                            pending_changes: number;
                            /** @description How many prefixes the list would have, by the name of the region. */
                            prefixes: {
                                [key: string]: number;
                            };
                        } | {
                            /**
                             * @description Whether the request waits for the routers.
                             * @constant
                             */
                            synchronous: true;
                            /**
                             * @description `success`: nothing is pending in the regions concerned. `failed`: a router failed; the change stays recorded, and is tried again. `in_progress`: waiting timed out, and the deployment goes on.
                             * @enum {string}
                             */
                            commit_status: "success" | "failed" | "in_progress";
                            /** @description How many addresses the routers still have to follow with. Exact, also above 2^53. */
                            pending_changes: number;
                        };
                    };
                    "application/json; numbers=string": {
                        /** @description What was asked for. */
                        data: {
                            /** @description How many addresses were not so before. Exact, in decimal digits. */
                            changed: string;
                            /**
                             * @description What is done with the addresses.
                             * @enum {string}
                             */
                            action: "enable" | "disable";
                        };
                        /** @description What is to be said about the answer. */
                        meta: {
                            /** @description How many addresses the routers still have to follow with. Exact, in decimal digits. */
                            pending_changes: string;
                        } | {
                            /**
                             * @description Whether nothing is recorded, and only what would be is answered.
                             * @constant
                             */
                            dry_run: true;
                            /** @description How many addresses the routers still have to follow with. Exact, in decimal digits. */
                            pending_changes: string;
                            /** @description How many prefixes the list would have, by the name of the region. */
                            prefixes: {
                                [key: string]: number;
                            };
                        } | {
                            /**
                             * @description Whether the request waits for the routers.
                             * @constant
                             */
                            synchronous: true;
                            /**
                             * @description `success`: nothing is pending in the regions concerned. `failed`: a router failed; the change stays recorded, and is tried again. `in_progress`: waiting timed out, and the deployment goes on.
                             * @enum {string}
                             */
                            commit_status: "success" | "failed" | "in_progress";
                            /** @description How many addresses the routers still have to follow with. Exact, in decimal digits. */
                            pending_changes: string;
                        };
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    getSubnets: {
        parameters: {
            query?: {
                /** @description `string`: counts are decimal text, exact for every reader of JSON. */
                numbers?: "string";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As asked. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": 1,
                     *           "cidr": "203.0.113.0/24",
                     *           "ip_version": 4,
                     *           "asn": 64500,
                     *           "metro": "AMS",
                     *           "region": "eu-west",
                     *           "ip_counts": {
                     *             "total": 256,
                     *             "enabled": 241,
                     *             "disabled": 15,
                     *             "pending": 16
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /** @description What was asked for. */
                        data: {
                            /** @description Its id. */
                            id: number;
                            /** @description A network, with no host bits set: `203.0.113.0/28`. */
                            cidr: string;
                            /** @description IPv4 or IPv6. */
                            ip_version: 4 | 6;
                            /** @description The number of the autonomous system that announces the subnet. */
                            asn: number;
                            /** @description Where the subnet is. */
                            metro: string;
                            /** @description A region, by its name. */
                            region: string | null;
                            /** @description How many addresses the subnet has, by status. Exact integers. */
                            ip_counts: {
                                /** @description Addresses in the subnet. Exact, also above 2^53. */
                                total: number;
                                /** @description Addresses that are enabled. Exact, also above 2^53. */
                                enabled: number;
                                /** @description Addresses that are disabled. Exact, also above 2^53. */
                                disabled: number;
                                /** @description Addresses that not all routers have as they should be. Exact, also above 2^53. */
                                pending: number;
                            };
                        }[];
                    };
                    "application/json; numbers=string": {
                        /** @description What was asked for. */
                        data: {
                            /** @description Its id. */
                            id: number;
                            /** @description A network, with no host bits set: `203.0.113.0/28`. */
                            cidr: string;
                            /** @description IPv4 or IPv6. */
                            ip_version: 4 | 6;
                            /** @description The number of the autonomous system that announces the subnet. */
                            asn: number;
                            /** @description Where the subnet is. */
                            metro: string;
                            /** @description A region, by its name. */
                            region: string | null;
                            /** @description How many addresses the subnet has, by status. Exact integers. */
                            ip_counts: {
                                /** @description Addresses in the subnet. Exact, in decimal digits. */
                                total: string;
                                /** @description Addresses that are enabled. Exact, in decimal digits. */
                                enabled: string;
                                /** @description Addresses that are disabled. Exact, in decimal digits. */
                                disabled: string;
                                /** @description Addresses that not all routers have as they should be. Exact, in decimal digits. */
                                pending: string;
                            };
                        }[];
                    };
                };
            };
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    getSubnetsSubnetId: {
        parameters: {
            query?: {
                /** @description `ips`: single addresses. `ranges`: maximal runs with the same status, complete. */
                view?: "ips" | "ranges";
                /** @description `until`: each address of a list has `disabled_until`, too. */
                fields?: "until";
                /** @description The list begins after this address. Not with `view=ranges`, which is complete. */
                after?: string;
                /** @description At most so many addresses. Not with `view=ranges`, which is complete. */
                limit?: number;
                /** @description `string`: counts are decimal text, exact for every reader of JSON. */
                numbers?: "string";
            };
            header?: never;
            path: {
                /** @description The `id` of the subnet, as `GET /subnets` lists it. */
                subnet_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As asked. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": 1,
                     *         "cidr": "203.0.113.0/24",
                     *         "ip_version": 4,
                     *         "asn": 64500,
                     *         "ranges": [
                     *           {
                     *             "start": "203.0.113.0",
                     *             "end": "203.0.113.6",
                     *             "status": "enabled",
                     *             "pending_change": false
                     *           },
                     *           {
                     *             "start": "203.0.113.7",
                     *             "end": "203.0.113.7",
                     *             "status": "disabled",
                     *             "pending_change": true,
                     *             "disabled_until": "2026-11-29T09:31:58.945+00:00"
                     *           },
                     *           {
                     *             "start": "203.0.113.8",
                     *             "end": "203.0.113.255",
                     *             "status": "enabled",
                     *             "pending_change": false
                     *           }
                     *         ]
                     *       },
                     *       "meta": {
                     *         "pending_changes": 1
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description What was asked for. */
                        data: {
                            /** @description Its id. */
                            id: number;
                            /** @description A network, with no host bits set: `203.0.113.0/28`. */
                            cidr: string;
                            /** @description IPv4 or IPv6. */
                            ip_version: 4 | 6;
                            /** @description The number of the autonomous system that announces the subnet. */
                            asn: number;
                            /** @description Single addresses. */
                            ips: {
                                /** @description An address; IPv6 as RFC 5952 writes it. */
                                address: string;
                                /**
                                 * @description How it is now.
                                 * @enum {string}
                                 */
                                status: "enabled" | "disabled";
                                /** @description Whether routers still have to follow. */
                                pending_change: boolean;
                                /** @description When it is enabled by itself: an instant with offset; null or missing: when you enable it. */
                                disabled_until?: string | null;
                            }[];
                        } | {
                            /** @description Its id. */
                            id: number;
                            /** @description A network, with no host bits set: `203.0.113.0/28`. */
                            cidr: string;
                            /** @description IPv4 or IPv6. */
                            ip_version: 4 | 6;
                            /** @description The number of the autonomous system that announces the subnet. */
                            asn: number;
                            /** @description Maximal runs of addresses with the same status, in order; all of them. */
                            ranges: {
                                /** @description The first address. */
                                start: string;
                                /** @description The last address. */
                                end: string;
                                /**
                                 * @description How it is now.
                                 * @enum {string}
                                 */
                                status: "enabled" | "disabled";
                                /** @description Whether routers still have to follow. */
                                pending_change: boolean;
                                /**
                                 * Format: date-time
                                 * @description When it is enabled by itself: an instant with offset; null or missing: when you enable it.
                                 */
                                disabled_until?: string;
                            }[];
                        };
                        /** @description What is to be said about the answer. */
                        meta: {
                            /** @description How many addresses the routers still have to follow with. Exact, also above 2^53. */
                            pending_changes: number;
                            /** @description What `after` is to be for the next page; null (of addresses: missing) on the last one. */
                            next_after?: string;
                        };
                    };
                    "application/json; numbers=string": {
                        /** @description What was asked for. */
                        data: {
                            /** @description Its id. */
                            id: number;
                            /** @description A network, with no host bits set: `203.0.113.0/28`. */
                            cidr: string;
                            /** @description IPv4 or IPv6. */
                            ip_version: 4 | 6;
                            /** @description The number of the autonomous system that announces the subnet. */
                            asn: number;
                            /** @description Single addresses. */
                            ips: {
                                /** @description An address; IPv6 as RFC 5952 writes it. */
                                address: string;
                                /**
                                 * @description How it is now.
                                 * @enum {string}
                                 */
                                status: "enabled" | "disabled";
                                /** @description Whether routers still have to follow. */
                                pending_change: boolean;
                                /** @description When it is enabled by itself: an instant with offset; null or missing: when you enable it. */
                                disabled_until?: string | null;
                            }[];
                        } | {
                            /** @description Its id. */
                            id: number;
                            /** @description A network, with no host bits set: `203.0.113.0/28`. */
                            cidr: string;
                            /** @description IPv4 or IPv6. */
                            ip_version: 4 | 6;
                            /** @description The number of the autonomous system that announces the subnet. */
                            asn: number;
                            /** @description Maximal runs of addresses with the same status, in order; all of them. */
                            ranges: {
                                /** @description The first address. */
                                start: string;
                                /** @description The last address. */
                                end: string;
                                /**
                                 * @description How it is now.
                                 * @enum {string}
                                 */
                                status: "enabled" | "disabled";
                                /** @description Whether routers still have to follow. */
                                pending_change: boolean;
                                /**
                                 * Format: date-time
                                 * @description When it is enabled by itself: an instant with offset; null or missing: when you enable it.
                                 */
                                disabled_until?: string;
                            }[];
                        };
                        /** @description What is to be said about the answer. */
                        meta: {
                            /** @description How many addresses the routers still have to follow with. Exact, in decimal digits. */
                            pending_changes: string;
                            /** @description What `after` is to be for the next page; null (of addresses: missing) on the last one. */
                            next_after?: string;
                        };
                    };
                };
            };
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    getSubnetsSubnetIdPending: {
        parameters: {
            query?: {
                /** @description `ips`: single addresses. `ranges`: maximal runs with the same status, complete. */
                view?: "ips" | "ranges";
                /** @description `until`: each address of a list has `disabled_until`, too. */
                fields?: "until";
                /** @description The list begins after this address. Not with `view=ranges`, which is complete. */
                after?: string;
                /** @description At most so many addresses. Not with `view=ranges`, which is complete. */
                limit?: number;
                /** @description How long to wait: an ISO 8601 duration, such as `PT30S`. */
                wait?: string;
                /** @description `string`: counts are decimal text, exact for every reader of JSON. */
                numbers?: "string";
            };
            header?: never;
            path: {
                /** @description The `id` of the subnet, as `GET /subnets` lists it. */
                subnet_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As asked. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": 1,
                     *         "cidr": "203.0.113.0/24",
                     *         "ip_version": 4,
                     *         "asn": 64500,
                     *         "ranges": [
                     *           {
                     *             "start": "203.0.113.0",
                     *             "end": "203.0.113.6",
                     *             "status": "disabled",
                     *             "pending_change": true
                     *           },
                     *           {
                     *             "start": "203.0.113.7",
                     *             "end": "203.0.113.7",
                     *             "status": "enabled",
                     *             "pending_change": true
                     *           },
                     *           {
                     *             "start": "203.0.113.8",
                     *             "end": "203.0.113.15",
                     *             "status": "disabled",
                     *             "pending_change": true
                     *           }
                     *         ]
                     *       },
                     *       "meta": {
                     *         "pending_changes": 16
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description What was asked for. */
                        data: {
                            /** @description Its id. */
                            id: number;
                            /** @description A network, with no host bits set: `203.0.113.0/28`. */
                            cidr: string;
                            /** @description IPv4 or IPv6. */
                            ip_version: 4 | 6;
                            /** @description The number of the autonomous system that announces the subnet. */
                            asn: number;
                            /** @description Single addresses. */
                            ips: {
                                /** @description An address; IPv6 as RFC 5952 writes it. */
                                address: string;
                                /**
                                 * @description How it is now.
                                 * @enum {string}
                                 */
                                status: "enabled" | "disabled";
                                /** @description Whether routers still have to follow. */
                                pending_change: boolean;
                                /** @description When it is enabled by itself: an instant with offset; null or missing: when you enable it. */
                                disabled_until?: string | null;
                            }[];
                        } | {
                            /** @description Its id. */
                            id: number;
                            /** @description A network, with no host bits set: `203.0.113.0/28`. */
                            cidr: string;
                            /** @description IPv4 or IPv6. */
                            ip_version: 4 | 6;
                            /** @description The number of the autonomous system that announces the subnet. */
                            asn: number;
                            /** @description Maximal runs of addresses with the same status, in order; all of them. */
                            ranges: {
                                /** @description The first address. */
                                start: string;
                                /** @description The last address. */
                                end: string;
                                /**
                                 * @description How it is now.
                                 * @enum {string}
                                 */
                                status: "enabled" | "disabled";
                                /** @description Whether routers still have to follow. */
                                pending_change: boolean;
                                /**
                                 * Format: date-time
                                 * @description When it is enabled by itself: an instant with offset; null or missing: when you enable it.
                                 */
                                disabled_until?: string;
                            }[];
                        };
                        /** @description What is to be said about the answer. */
                        meta: {
                            /** @description How many addresses the routers still have to follow with. Exact, also above 2^53. */
                            pending_changes: number;
                            /** @description What `after` is to be for the next page; null (of addresses: missing) on the last one. */
                            next_after?: string;
                        };
                    };
                    "application/json; numbers=string": {
                        /** @description What was asked for. */
                        data: {
                            /** @description Its id. */
                            id: number;
                            /** @description A network, with no host bits set: `203.0.113.0/28`. */
                            cidr: string;
                            /** @description IPv4 or IPv6. */
                            ip_version: 4 | 6;
                            /** @description The number of the autonomous system that announces the subnet. */
                            asn: number;
                            /** @description Single addresses. */
                            ips: {
                                /** @description An address; IPv6 as RFC 5952 writes it. */
                                address: string;
                                /**
                                 * @description How it is now.
                                 * @enum {string}
                                 */
                                status: "enabled" | "disabled";
                                /** @description Whether routers still have to follow. */
                                pending_change: boolean;
                                /** @description When it is enabled by itself: an instant with offset; null or missing: when you enable it. */
                                disabled_until?: string | null;
                            }[];
                        } | {
                            /** @description Its id. */
                            id: number;
                            /** @description A network, with no host bits set: `203.0.113.0/28`. */
                            cidr: string;
                            /** @description IPv4 or IPv6. */
                            ip_version: 4 | 6;
                            /** @description The number of the autonomous system that announces the subnet. */
                            asn: number;
                            /** @description Maximal runs of addresses with the same status, in order; all of them. */
                            ranges: {
                                /** @description The first address. */
                                start: string;
                                /** @description The last address. */
                                end: string;
                                /**
                                 * @description How it is now.
                                 * @enum {string}
                                 */
                                status: "enabled" | "disabled";
                                /** @description Whether routers still have to follow. */
                                pending_change: boolean;
                                /**
                                 * Format: date-time
                                 * @description When it is enabled by itself: an instant with offset; null or missing: when you enable it.
                                 */
                                disabled_until?: string;
                            }[];
                        };
                        /** @description What is to be said about the answer. */
                        meta: {
                            /** @description How many addresses the routers still have to follow with. Exact, in decimal digits. */
                            pending_changes: string;
                            /** @description What `after` is to be for the next page; null (of addresses: missing) on the last one. */
                            next_after?: string;
                        };
                    };
                };
            };
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    getCommits: {
        parameters: {
            query?: {
                /** @description A region, by its name. */
                region?: string;
                /** @description Which list: `BLACKHOLE` (disabled addresses) or `SRC_WHITELIST`. */
                list?: "BLACKHOLE" | "SRC_WHITELIST";
                /** @description The `next_after` of the page before. */
                after?: string;
                /** @description At most so many rows. */
                limit?: number;
                /** @description `string`: counts are decimal text, exact for every reader of JSON. */
                numbers?: "string";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As asked. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "region": "eu-west",
                     *           "status": "success",
                     *           "attempt": 1,
                     *           "prefixes": 4,
                     *           "commit_set_id": "c9f0f895-fb98-4b91-b2f6-1d0a9f0e7c33",
                     *           "prefix_list_name": "Svc-ACME-CORP-BLACKHOLE",
                     *           "requested_at": "2026-11-29T05:31:59.665+00:00",
                     *           "completed_at": "2026-11-29T05:31:59.781+00:00",
                     *           "reason": null
                     *         }
                     *       ],
                     *       "meta": {
                     *         "next_after": null
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description What was asked for. */
                        data: {
                            /**
                             * Format: uuid
                             * @description The commit set, which stays the same through all tries.
                             */
                            commit_set_id: string;
                            /** @description A region, by its name. */
                            region: string;
                            /** @description The name of the list on the routers. */
                            prefix_list_name: string;
                            /**
                             * @description `deploying`, `success` on all routers, or `failed`: it is tried again by itself.
                             * @enum {string}
                             */
                            status: "deploying" | "success" | "failed";
                            /** @description Which try this is, from 1. */
                            attempt: number;
                            /** @description How many prefixes the list has; null while that is not known. */
                            prefixes: number | null;
                            /**
                             * Format: date-time
                             * @description When it began: an instant with offset.
                             */
                            requested_at: string;
                            /** @description When it was over: an instant with offset; null while it is not. */
                            completed_at: string | null;
                            /** @description Why it has not succeeded yet; null where it has, or goes on. */
                            reason: string | null;
                        }[];
                        /** @description What is to be said about the answer. */
                        meta: {
                            /** @description What `after` is to be for the next page; null (of addresses: missing) on the last one. */
                            next_after: string | null;
                        };
                    };
                };
            };
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    getCommitsCommitSetId: {
        parameters: {
            query?: {
                /** @description `string`: counts are decimal text, exact for every reader of JSON. */
                numbers?: "string";
            };
            header?: never;
            path: {
                /** @description The commit set, which stays the same through all tries. */
                commit_set_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As asked. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "region": "eu-west",
                     *         "status": "success",
                     *         "attempt": 1,
                     *         "prefixes": 4,
                     *         "commit_set_id": "c9f0f895-fb98-4b91-b2f6-1d0a9f0e7c33",
                     *         "prefix_list_name": "Svc-ACME-CORP-BLACKHOLE",
                     *         "requested_at": "2026-11-29T05:31:59.665+00:00",
                     *         "completed_at": "2026-11-29T05:31:59.781+00:00",
                     *         "reason": null
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description What was asked for. */
                        data: {
                            /**
                             * Format: uuid
                             * @description The commit set, which stays the same through all tries.
                             */
                            commit_set_id: string;
                            /** @description A region, by its name. */
                            region: string;
                            /** @description The name of the list on the routers. */
                            prefix_list_name: string;
                            /**
                             * @description `deploying`, `success` on all routers, or `failed`: it is tried again by itself.
                             * @enum {string}
                             */
                            status: "deploying" | "success" | "failed";
                            /** @description Which try this is, from 1. */
                            attempt: number;
                            /** @description How many prefixes the list has; null while that is not known. */
                            prefixes: number | null;
                            /**
                             * Format: date-time
                             * @description When it began: an instant with offset.
                             */
                            requested_at: string;
                            /** @description When it was over: an instant with offset; null while it is not. */
                            completed_at: string | null;
                            /** @description Why it has not succeeded yet; null where it has, or goes on. */
                            reason: string | null;
                        };
                    };
                };
            };
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    getWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description The `next_after` of the page before. */
                after?: string;
                /** @description At most so many rows. */
                limit?: number;
                /** @description `string`: counts are decimal text, exact for every reader of JSON. */
                numbers?: "string";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As asked. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "msg_c9f0f895-fb98-4b91-b2f6-1d0a9f0e7c33_success",
                     *           "commit_set_id": "c9f0f895-fb98-4b91-b2f6-1d0a9f0e7c33",
                     *           "status": "success",
                     *           "state": "delivered",
                     *           "attempts": [
                     *             {
                     *               "at": "2026-11-29T05:32:00.056+00:00",
                     *               "http_status": 204,
                     *               "error": null
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "meta": {
                     *         "next_after": null
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description What was asked for. */
                        data: {
                            /** @description Its id. */
                            id: string;
                            /**
                             * Format: uuid
                             * @description The commit set, which stays the same through all tries.
                             */
                            commit_set_id: string;
                            /**
                             * @description What is told: `success`, or `failed` at the first failed try of a commit set.
                             * @enum {string}
                             */
                            status: "success" | "failed";
                            /**
                             * @description `retrying`: it is still to be sent. `delivered`: answered 2xx. `given_up`: after the last retry.
                             * @enum {string}
                             */
                            state: "delivered" | "retrying" | "given_up";
                            /** @description How often it was tried; of a delivery, each try with what became of it. */
                            attempts: {
                                /**
                                 * Format: date-time
                                 * @description When: an instant with offset.
                                 */
                                at: string;
                                /** @description What the receiver answered; null where there was no answer. */
                                http_status: number | null;
                                /** @description Why it failed; null where it did not. */
                                error: string | null;
                            }[];
                        }[];
                        /** @description What is to be said about the answer. */
                        meta: {
                            /** @description What `after` is to be for the next page; null (of addresses: missing) on the last one. */
                            next_after: string | null;
                        };
                    };
                };
            };
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    postWebhookDeliveriesIdRedeliver: {
        parameters: {
            query?: {
                /** @description `string`: counts are decimal text, exact for every reader of JSON. */
                numbers?: "string";
            };
            header?: never;
            path: {
                /** @description Its id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Taken on; it is done later. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "msg_c9f0f895-fb98-4b91-b2f6-1d0a9f0e7c33_success",
                     *         "state": "retrying"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description What was asked for. */
                        data: {
                            /** @description Its id. */
                            id: string;
                            /**
                             * @description `retrying`: it is still to be sent. `delivered`: answered 2xx. `given_up`: after the last retry.
                             * @enum {string}
                             */
                            state: "delivered" | "retrying" | "given_up";
                        };
                    };
                };
            };
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    getSourceWhitelist: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As asked. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "request_id": "45c48cce-2e2d-4fbd-a1b7-6c3f5e8d9a10",
                     *           "input": "192.31.196.7",
                     *           "regions": [
                     *             "eu-west"
                     *           ],
                     *           "status": "pending_review",
                     *           "auto_approved": false,
                     *           "created_at": "2026-11-29T05:32:00.310+00:00"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "used": 1,
                     *         "limit": 100
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description What was asked for. */
                        data: {
                            /**
                             * Format: uuid
                             * @description The id of the whitelist request.
                             */
                            request_id: string;
                            /** @description The addresses as they were submitted. */
                            input: string;
                            /** @description Regions. */
                            regions: string[];
                            /**
                             * @description `pending_review`; `pending_deploy`: approved; `active`: on all routers; `failed`: a router did not take it, and it is tried again; `rejected`.
                             * @enum {string}
                             */
                            status: "pending_review" | "pending_deploy" | "active" | "rejected" | "failed";
                            /** @description Whether it needed no review, since the account is trusted. */
                            auto_approved: boolean;
                            /**
                             * Format: date-time
                             * @description When it was made: an instant with offset.
                             */
                            created_at: string;
                        }[];
                        /** @description What is to be said about the answer. */
                        meta: {
                            /** @description How many requests count. */
                            used: number;
                            /** @description How many requests the account may have. */
                            limit: number;
                        };
                    };
                };
            };
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    postSourceWhitelist: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    /**
                     * Format: ipv4
                     * @description One address; IPv4 as four decimal numbers, IPv6 in any form of RFC 4291.
                     */
                    ip: string;
                    /** @description A region, by its name or number; once for each, up to 100. */
                    "regions[]": string[];
                    /** @description Why, for the record: up to 500 characters. */
                    reason?: string;
                    /** @description The ticket that it is done for: up to 100 characters. */
                    ticket?: string;
                    /**
                     * Format: binary
                     * @description The file that proves it: jpg, jpeg, png or pdf, up to 5 MB unless another limit is set.
                     */
                    evidence: Blob;
                } | {
                    /**
                     * Format: ipv4
                     * @description The first address.
                     */
                    "range[start]": string;
                    /**
                     * Format: ipv4
                     * @description The last address.
                     */
                    "range[end]": string;
                    /** @description A region, by its name or number; once for each, up to 100. */
                    "regions[]": string[];
                    /** @description Why, for the record: up to 500 characters. */
                    reason?: string;
                    /** @description The ticket that it is done for: up to 100 characters. */
                    ticket?: string;
                    /**
                     * Format: binary
                     * @description The file that proves it: jpg, jpeg, png or pdf, up to 5 MB unless another limit is set.
                     */
                    evidence: Blob;
                } | {
                    /**
                     * Format: cidrv4
                     * @description A network, with no host bits set: `203.0.113.0/28`.
                     */
                    cidr: string;
                    /** @description A region, by its name or number; once for each, up to 100. */
                    "regions[]": string[];
                    /** @description Why, for the record: up to 500 characters. */
                    reason?: string;
                    /** @description The ticket that it is done for: up to 100 characters. */
                    ticket?: string;
                    /**
                     * Format: binary
                     * @description The file that proves it: jpg, jpeg, png or pdf, up to 5 MB unless another limit is set.
                     */
                    evidence: Blob;
                };
            };
        };
        responses: {
            /** @description As asked. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was asked for. */
                        data: {
                            /**
                             * Format: uuid
                             * @description The id of the whitelist request.
                             */
                            request_id: string;
                            /** @description The addresses as they were submitted. */
                            input: string;
                            /** @description Regions. */
                            regions: string[];
                            /**
                             * @description How it is now.
                             * @enum {string}
                             */
                            status: "pending_review" | "pending_deploy" | "active" | "rejected" | "failed";
                            /** @description Whether it needed no review, since the account is trusted. */
                            auto_approved: boolean;
                        };
                        /** @description What is to be said about the answer. */
                        meta: {
                            /** @description How many requests count. */
                            used: number;
                            /** @description How many requests the account may have. */
                            limit: number;
                        };
                    };
                };
            };
            /** @description Made. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "request_id": "45c48cce-2e2d-4fbd-a1b7-6c3f5e8d9a10",
                     *         "input": "192.31.196.7",
                     *         "regions": [
                     *           "eu-west"
                     *         ],
                     *         "status": "pending_review",
                     *         "auto_approved": false
                     *       },
                     *       "meta": {
                     *         "used": 1,
                     *         "limit": 100
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description What was asked for. */
                        data: {
                            /**
                             * Format: uuid
                             * @description The id of the whitelist request.
                             */
                            request_id: string;
                            /** @description The addresses as they were submitted. */
                            input: string;
                            /** @description Regions. */
                            regions: string[];
                            /**
                             * @description How it is now.
                             * @enum {string}
                             */
                            status: "pending_review" | "pending_deploy" | "active" | "rejected" | "failed";
                            /** @description Whether it needed no review, since the account is trusted. */
                            auto_approved: boolean;
                        };
                        /** @description What is to be said about the answer. */
                        meta: {
                            /** @description How many requests count. */
                            used: number;
                            /** @description How many requests the account may have. */
                            limit: number;
                        };
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    deleteSourceWhitelistRequestId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the whitelist request. */
                request_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As asked. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "request_id": "45c48cce-2e2d-4fbd-a1b7-6c3f5e8d9a10",
                     *         "status": "removed"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description What was asked for. */
                        data: {
                            /**
                             * Format: uuid
                             * @description The id of the whitelist request.
                             */
                            request_id: string;
                            /**
                             * @description How it is now.
                             * @constant
                             */
                            status: "removed";
                        };
                    };
                };
            };
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
}
