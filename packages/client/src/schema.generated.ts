// Generated from the OpenAPI document by `npm run client:types`. Do not edit.
export interface paths {
    "/.well-known/jwks.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Keys that sign access tokens, as a JSON Web Key Set */
        get: operations["getKeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/oauth-authorization-server": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Authorization server metadata */
        get: operations["getAuthorizationServerMetadata"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth2/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke an access token
         * @description RFC 7009. The client that the token was issued to authenticates as at the token endpoint. From then on the token is refused, on every node within ten seconds. A token that is unknown or has expired is not an error.
         */
        post: operations["revokeToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth2/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get an access token
         * @description OAuth 2 client credentials grant. The client authenticates with HTTP Basic (id and secret form-urlencoded, RFC 6749 section 2.3.1), with `client_id` and `client_secret` in the body, or with an assertion that it signs with its private key (`private_key_jwt`, RFC 7523).
         */
        post: operations["createToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List requests that need approval
         * @description Privileged actions of your customer that wait for others, and those that were decided. Scope: `control:read_approval`.
         */
        get: operations["listApprovals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/approvals/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a request that needs approval
         * @description Scope: `control:read_approval`.
         */
        get: operations["getApproval"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/approvals/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve a request
         * @description Requires the `digest` that you have seen. The maker cannot approve, nor another client of the same person. The vote that reaches the quorum executes the action in the same transaction; if the action is refused then, the request is FAILED, with the problem. Scope: `control:approve`.
         */
        post: operations["approveApproval"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/approvals/{id}/claim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take the secret or the enrolment link that a request of yours made
         * @description Only for the maker of a request that was executed, once, within seven days. The secret is made now, and only its hash is stored: if the answer is lost, propose a new one. Scope: `people:write_person`.
         */
        post: operations["claimApproval"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/approvals/{id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reject a request
         * @description Ends the request; nothing is executed. The maker can withdraw a request in this way, too. Scope: `control:approve`.
         */
        post: operations["rejectApproval"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/assets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List assets, their rails and fees
         * @description The assets of this service, with the precision of their amounts, the rails that carry them, and the fees of the schedule. A crypto withdrawal can have its fee guaranteed before it is created. Scope: `funding:read_profile`.
         */
        get: operations["listAssets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/audit-log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the audit log of your customer
         * @description Every change, with who made it, from where and with which request, and the resource before and after it; and refused attempts at privileged actions. Secrets and personal data are shown as digests. The log is append-only. Of operators and of other customers, only the kind of the actor is shown. Scope: `control:read_audit_log`.
         */
        get: operations["listAuditLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/clients": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your API clients
         * @description With their scopes. The operator creates and changes them. Scope: `control:read_client`.
         */
        get: operations["listOwnClients"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/conversion/stablecoins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List conversions
         * @description Scope: `conversion:read_conversion_stablecoin`.
         */
        get: operations["listStablecoinConversions"];
        put?: never;
        /**
         * Convert between USD and the stablecoin
         * @description Debits one balance of the profile and credits the other, one to one and without a fee, in one transaction. The assets are USD and the operator's own stablecoin, in either direction. Amounts are never rounded: they have at most as many decimals as both assets. Scope: `conversion:write_conversion_stablecoin`.
         */
        post: operations["createStablecoinConversion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/conversion/stablecoins/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a conversion
         * @description Scope: `conversion:read_conversion_stablecoin`.
         */
        get: operations["getStablecoinConversion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/destinations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your destinations
         * @description Scope: `policy:read_policy`.
         */
        get: operations["listDestinations"];
        put?: never;
        /**
         * Put a destination on your list
         * @description For policies that allow only listed destinations. The cooling-off time of such a policy begins when it is listed. A destination that is on the list stays as it is. Scope: `policy:write_policy`.
         */
        post: operations["listDestinationForWithdrawals"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/destinations/{id}": {
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
         * Take a destination off your list
         * @description Withdrawals that were accepted before are paid. Scope: `policy:write_policy`.
         */
        delete: operations["removeDestination"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the event feed
         * @description Oldest first, from the beginning or from `page_cursor`. Unlike other lists the feed has no end: `next_page_cursor` is always present and never expires. With `wait_seconds`, the answer comes as soon as there are events. New events never appear before events that were already read. Scope: `events:read_event`.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/events/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an event
         * @description Scope: `events:read_event`.
         */
        get: operations["getEvent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/events/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow the event feed as server-sent events
         * @description Each message is an event. Its id is the place to continue from: a client that sends it back as `Last-Event-ID` misses no events. Starts with new events, or after `page_cursor`. Ends when the access token expires. Scope: `events:read_event`.
         */
        get: operations["streamEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/events/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhook endpoints
         * @description Scope: `events:read_event`.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Create a webhook endpoint
         * @description Events from now on are sent to the URL, signed with the `secret` of the answer as the Standard Webhooks specification defines. The secret is shown once, in this answer: if the answer is lost, rotate the secret. Scope: `events:write_webhook` and `events:read_event`.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/events/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a webhook endpoint
         * @description Scope: `events:read_event`.
         */
        get: operations["getWebhook"];
        /**
         * Change a webhook endpoint
         * @description Omitted fields keep their values. A disabled endpoint keeps its place in the feed: when it is enabled again, all events since then are sent. Takes effect within two seconds on every node. Scope: `events:write_webhook` and `events:read_event`.
         */
        put: operations["updateWebhook"];
        post?: never;
        /**
         * Delete a webhook endpoint
         * @description Answers with the endpoint, and its `deleted_at`. Nothing more is sent to it. Scope: `events:write_webhook`.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/events/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deliveries to a webhook endpoint
         * @description With the last request and response of each. Events that wait for an endpoint that does not answer have no delivery yet. Deliveries are kept for 30 days. Scope: `events:read_event`.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/events/webhooks/{id}/deliveries/{delivery_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a delivery
         * @description Scope: `events:read_event`.
         */
        get: operations["getWebhookDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/events/webhooks/{id}/deliveries/{delivery_id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send the event of a delivery again
         * @description Creates a new delivery with the same `webhook-id`. It is tried at once, and retried like any other. Scope: `events:write_webhook` and `events:read_event`.
         */
        post: operations["replayWebhookDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/events/webhooks/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send all events since a time again
         * @description Sends all events since that time again, in order, each with its own `webhook-id`, if the endpoint subscribes to their type; including events from before the endpoint was created. Scope: `events:write_webhook` and `events:read_event`.
         */
        post: operations["replayWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/events/webhooks/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the secret of a webhook endpoint
         * @description Answers with the new secret. For 24 hours both the new and the old secret sign, so that receivers can switch at any time. Scope: `events:write_webhook`.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/events/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event
         * @description Sends an event of type `webhook_endpoint.test` at once, even if the endpoint is disabled or does not subscribe to it, and answers with the result. It is not retried. Scope: `events:write_webhook`.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/identity/account-members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add members to an account
         * @description Adds identities with roles to an account: all of them, or none. An identity that is already a member with the same roles is returned unchanged; with other roles the request is refused. Scope: `identity:write_account`.
         */
        post: operations["addAccountMembers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/identity/account-members/{id}": {
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
         * Remove a member from its account
         * @description Returns the removed member. Scope: `identity:write_account`.
         */
        delete: operations["removeAccountMember"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/identity/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List accounts
         * @description Scope: `identity:read_account`.
         */
        get: operations["listAccounts"];
        put?: never;
        /**
         * Create an account
         * @description An account of an identity. Its members are added, and with `create_profile` a profile is created, in the same transaction. Scope: `identity:write_account`.
         */
        post: operations["createAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/identity/accounts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an account and its members
         * @description Scope: `identity:read_account`.
         */
        get: operations["getAccount"];
        /**
         * Update an account
         * @description Changes the given fields; the others keep their values. The owner of an account does not change; members are added and removed with operations of their own. Scope: `identity:write_account`.
         */
        put: operations["updateAccount"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/identity/identities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List identities
         * @description Scope: `identity:read_identity`.
         */
        get: operations["listIdentities"];
        put?: never;
        /**
         * Create an identity
         * @description A person or an institution that you act for. Send exactly one of person_details and institution_details. Scope: `identity:write_identity`.
         */
        post: operations["createIdentity"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/identity/identities/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an identity
         * @description Scope: `identity:read_identity`.
         */
        get: operations["getIdentity"];
        /**
         * Update an identity
         * @description Changes the given fields; the others keep their values. A person stays a person, and an institution an institution. Scope: `identity:write_identity`.
         */
        put: operations["updateIdentity"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the caller
         * @description Who calls, a client or a person, and what the caller may do. For every caller.
         */
        get: operations["getMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/accounts/{account}/entries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the entries of an account of the service
         * @description `fees`, `conversion`, `suspense`, `treasury` or `clearing:<rail>`. `created_at` is the instant `at` of an entry. Scope: `operator:read`.
         */
        get: operations["listAccountEntries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List requests that need approval
         * @description Privileged actions of operators that wait for others, and those that were decided. Scope: `operator:read`.
         */
        get: operations["listOperatorApprovals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/approvals/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a request that needs approval
         * @description Scope: `operator:read`.
         */
        get: operations["getOperatorApproval"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/approvals/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve a request
         * @description Requires the `digest` that you have seen. The maker cannot approve, nor another client of the same person. The vote that reaches the quorum executes the action in the same transaction; if the action is refused then, the request is FAILED, with the problem. Scope: `operator:approve`.
         */
        post: operations["approveOperatorApproval"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/approvals/{id}/claim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take the secret or the enrolment link that a request of yours made
         * @description Only for the maker of a request that was executed, once, within seven days. The secret is made now, and only its hash is stored: if the answer is lost, propose a new one. Scope: `operator:admin`.
         */
        post: operations["claimOperatorApproval"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/approvals/{id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reject a request
         * @description Ends the request; nothing is executed. The maker can withdraw a request in this way, too. Scope: `operator:approve`.
         */
        post: operations["rejectOperatorApproval"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/audit-log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the audit log
         * @description Every change, with who made it, from where and with which request, and the resource before and after it; and refused attempts at privileged actions. Secrets and personal data are shown as digests. The log is append-only. Of all customers. Scope: `operator:read`.
         */
        get: operations["listOperatorAuditLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/clients": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List API clients
         * @description Of all customers, or of one. An ACTIVE client has no `disabled_at`. Scope: `operator:read`.
         */
        get: operations["listClients"];
        put?: never;
        /**
         * Create an API client
         * @description With `keys` it authenticates by private_key_jwt and gets no secret. Otherwise `client_secret` is shown once: here, or to the maker of an approved request by `claimOperatorApproval`. Scope: `operator:admin`.
         */
        post: operations["createClient"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/clients/{client_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an API client
         * @description With what it authenticates with: ids only, never a secret. Scope: `operator:read`.
         */
        get: operations["getClient"];
        /**
         * Change the scopes, the addresses or the owner of an API client
         * @description Fields that are absent stay as they are. Takes effect within 10 seconds on every node. Scope: `operator:admin`.
         */
        put: operations["changeClient"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/clients/{client_id}/credentials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add public keys or a secret to an API client
         * @description Without `keys`, a secret that works beside the one that it replaces; `client_secret` is shown once, as with `createClient`. Scope: `operator:admin`.
         */
        post: operations["addClientCredentials"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/clients/{client_id}/credentials/{credential_id}": {
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
         * Remove a public key or a secret of an API client
         * @description At once; tokens that were issued before stay valid until they expire. The last credential cannot be removed: disable the client instead. Scope: `operator:admin`.
         */
        delete: operations["removeClientCredential"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/clients/{client_id}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Disable an API client
         * @description It gets no tokens, and those that it has are refused within 10 seconds on every node. Scope: `operator:admin`.
         */
        post: operations["disableClient"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/clients/{client_id}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enable an API client again
         * @description With the scopes and credentials that it had. Scope: `operator:admin`.
         */
        post: operations["enableClient"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/fiat-accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List fiat accounts to review
         * @description Accounts of all customers, with the findings of the automatic checks. Deleted accounts are not listed. Scope: `operator:review`.
         */
        get: operations["listFiatAccountsForReview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/fiat-accounts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * View a fiat account to review it
         * @description Shows the whole account number, and a `digest` of this version of the account, which approving or rejecting it requires. Every view is recorded. Scope: `operator:review`.
         */
        get: operations["viewFiatAccountForReview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/fiat-accounts/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve a fiat account
         * @description Requires the `digest` of the version that you viewed. If the account has changed since, or another reviewer has decided, the answer is a 409: view it again. Scope: `operator:review`.
         */
        post: operations["approveFiatAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/fiat-accounts/{id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reject a fiat account
         * @description Requires the `digest` of the version that you viewed. If the account has changed since, or another reviewer has decided, the answer is a 409: view it again. Scope: `operator:review`.
         */
        post: operations["rejectFiatAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/fiat-accounts/{id}/views": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List who viewed a fiat account
         * @description Every view of the whole account number, also after the account was deleted. Scope: `operator:review`.
         */
        get: operations["listFiatAccountViews"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/freezes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List freezes
         * @description Scope: `operator:read`.
         */
        get: operations["listFreezes"];
        put?: never;
        /**
         * Freeze a profile, an identity, a customer or the platform
         * @description Stops everything at once that moves value of a profile, an identity (the requests that name it, and the profiles of the accounts that it owns), a customer, or the whole platform: new transfers, withdrawals that were accepted and not handed to a rail, affirmations and settlements. Deposits that arrive are credited, and cannot be used. Other customers get the answer for an unknown profile.
         *
         *     The answer comes when transactions and calls of rails that began before the freeze have ended: nothing is submitted to a rail after it, unless `in_force` is false or `submissions_under_way` is not 0. What is frozen already keeps its freeze. Scope: `operator:admin`.
         */
        post: operations["createFreeze"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/freezes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a freeze
         * @description Scope: `operator:read`.
         */
        get: operations["getFreeze"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/freezes/{id}/lift": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Lift a freeze
         * @description What waited goes on, unless another freeze stops it: withdrawals are submitted, and settlement transactions settle if their window is open. Scope: `operator:admin`.
         */
        post: operations["liftFreeze"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/journal-entries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List journal entries
         * @description Scope: `operator:read`.
         */
        get: operations["listJournalEntries"];
        put?: never;
        /**
         * Book a journal entry
         * @description Moves value that no customer requested, with a reason, a reference and the caller as the actor. `reference` is the bank's reference or the transaction hash if money arrives, and unique within `rail` and `account`: the same money is booked once, by hand or by a rail. The owners of the profiles get events, with `note`.
         *
         *     - `OPENING_BALANCE`: value that is outside already, credited to a profile: `clearing:<rail>` to the profile. Fields: `profile_id`, `asset`, `amount`, `rail`, `account`, `output` (optional).
         *     - `MANUAL_DEPOSIT`: a deposit that no rail reported, credited as a deposit transfer: `clearing:<rail>` to the profile. Fields: `profile_id`, `asset`, `amount`, `rail`, `account`, `output` (optional).
         *     - `TREASURY_FUNDING`: the operator's own money that arrived: `clearing:<rail>` to `treasury`. Fields: `asset`, `amount`, `rail`, `account`, `output` (optional).
         *     - `TREASURY_PAYOUT`: money paid out to the operator's own account: `treasury` to `clearing:<rail>`. Fields: `asset`, `amount`, `rail`, `account` (optional).
         *     - `SWEEP`: `fees` or `conversion` (`source`) to `treasury`: the amount, or all; a negative `conversion` is refilled. Fields: `source`, `asset`, `amount` (optional).
         *     - `WRITE_OFF`: the remainder of a profile to `treasury`, or a loss on a rail: `treasury` to `clearing:<rail>`. Fields: `asset`, `amount`, `profile_id` or `rail`.
         *     - `SUSPENSE_CREDIT`: a deposit in suspense, credited to a profile as a deposit transfer. Fields: `suspense_deposit_id`, `profile_id`.
         *     - `SUSPENSE_RETURN`: a deposit in suspense that was paid back to its sender: `suspense` to `clearing:<rail>`. Fields: `suspense_deposit_id`, `account` (optional).
         *     - `WITHDRAWAL_RETURN`: money that came back after a withdrawal was COMPLETED: `clearing:<rail>` to the profile. Fields: `transfer_id`, `asset`, `amount`, `account`, `output` (optional).
         *     - `CORRECTION`: a difference in what `corrects` names, moved `from` an account `to` another. Fields: `corrects`, `asset`, `amount`, `from`, `to`.
         *     - `REVERSAL`: the exact opposite of what `corrects` names, at most once. Fields: `corrects`. Scope: `operator:journal`.
         */
        post: operations["bookJournalEntry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/journal-entries/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a journal entry
         * @description Scope: `operator:read`.
         */
        get: operations["getJournalEntry"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/policies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List policies, of the operator and of all customers
         * @description Scope: `operator:read`.
         */
        get: operations["listPolicies"];
        put?: never;
        /**
         * Create or change a policy of the operator
         * @description Rules for the withdrawals of all customers. A policy of a name that exists gets a new version; earlier versions stay. What exceeds a limit is refused when it is requested; what needs time or a decision is held. The answer comes when no withdrawal is decided on the version before. Scope: `operator:admin`.
         */
        post: operations["changePolicy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/policies/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a policy
         * @description Scope: `operator:read`.
         */
        get: operations["getPolicy"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/policies/{id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the versions of a policy
         * @description Scope: `operator:read`.
         */
        get: operations["listPolicyVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/policies/dry-run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Show what a policy would have held or refused
         * @description Evaluates the rules on the withdrawals of all customers of the last 30 days, at most the latest 10000, each at its own time. Nothing is stored. Rules that ask for a screening count as held. Scope: `operator:admin`.
         */
        post: operations["dryRunPolicy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/rail-contradictions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List reports of rails that contradict the record of a withdrawal
         * @description Nothing was posted for these reports: a withdrawal ends once, and only the rail that was asked to pay it can end it. Scope: `operator:review`.
         */
        get: operations["listRailContradictions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/reconciliations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import a statement of a bank
         * @description A statement of the bank account behind `clearing:<rail>` or `treasury`, of one asset: camt.053 of any version, or CSV. Its booked lines are matched with what the ledger moved on the account: the same direction, amount and a reference in common. All lines are imported, or none; the same statement again changes nothing. Scope: `operator:journal`.
         */
        post: operations["importStatement"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/reconciliations/balances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the balances that were compared
         * @description Scope: `operator:read`.
         */
        get: operations["listBalanceReports"];
        put?: never;
        /**
         * Compare a balance of a bank or chain with the ledger
         * @description What a bank, a wallet or a chain had at a time, for `clearing:<rail>` or `treasury`. `difference` is what it has more than the ledger at that time; `unexplained` is what remains of it without the items that are on one side only. The closing balance of an imported camt.053 is compared by itself. Scope: `operator:journal`.
         */
        post: operations["reportBalance"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/reconciliations/matches": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Match items by hand
         * @description Any open items of one account and asset whose sums on both sides are equal: a payment that the bank split, or, on one side alone, a payment and its return. Scope: `operator:journal`.
         */
        post: operations["matchItems"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/reconciliations/matches/{id}/remove": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove a match
         * @description Its items are open again. They are not matched automatically a second time. Scope: `operator:journal`.
         */
        post: operations["removeMatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/reconciliations/unmatched": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what is on one side only
         * @description Lines of statements without a movement in the ledger, and movements of the ledger without a line; `created_at` is when they were booked. Scope: `operator:read`.
         */
        get: operations["listUnmatched"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find something of any customer
         * @description By id, ref_id, transaction hash, deposit address, name of a customer, or amount. Texts must be whole, apart from names and references of deposits in suspense. Scope: `operator:read`.
         */
        get: operations["searchEverything"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/settlement-network": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See who owes whom, and what settled together
         * @description The obligations between profiles of all customers that affirmed settlement transactions amount to, and the sets of transactions that the engine settled in one commit because each paid for another. Scope: `operator:read`.
         */
        get: operations["getSettlementNetwork"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/suspense-deposits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deposits that could not be credited
         * @description Their value is on the account `suspense` until an operator credits it or returns it to its sender. Nothing is posted for an asset that is not configured. Scope: `operator:review`.
         */
        get: operations["listSuspenseDeposits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/suspense-deposits/{id}/credit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Credit a deposit in suspense
         * @description The same as a journal entry of the kind SUSPENSE_CREDIT; without a reason and a reference, the entry names the deposit. Scope: `operator:review`.
         */
        post: operations["creditSuspenseDeposit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/treasury": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get what is on chain, in the ledger and in flight
         * @description By network and asset: the wallets as they were last observed at a final block, what the ledger says, what is in flight, and the difference; the last balances that banks reported; and alarms. Scope: `operator:read`.
         */
        get: operations["getTreasury"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/trial-balance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the trial balance
         * @description The balance of every account, by asset: `available` and `held` of all profiles together, and each account of the service (`fees`, `conversion`, `suspense`, `treasury`, `clearing:<rail>`). They sum to zero. With `at`, as they were at that time. It is read in many short statements, so it delays nothing; its cost grows with the number of balances, and with what happened since `at`. Scope: `operator:read`.
         */
        get: operations["getTrialBalance"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See how the webhook endpoints of all customers answer
         * @description The worst first, each with its backlog and the outcome of its latest deliveries. Scope: `operator:read`.
         */
        get: operations["getWebhookHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/withdrawals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List withdrawals that have not ended
         * @description By the time at which they were requested, newest first. `states=UNKNOWN` finds those whose rail does not tell whether it has the payment. Scope: `operator:read`.
         */
        get: operations["listOpenWithdrawals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/withdrawals/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a withdrawal that was not submitted yet
         * @description Only while the withdrawal is QUEUED, or waits for its fiat account. Its total returns. Scope: `operator:journal`.
         */
        post: operations["cancelWithdrawal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/withdrawals/{id}/notes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what only operators may know about a withdrawal
         * @description The reasons of the rail, of screening and of those who released or refused it, oldest first. The customer is shown the public form in `secondary_status`. Scope: `operator:read`.
         */
        get: operations["listWithdrawalNotes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/withdrawals/{id}/refuse": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Refuse a withdrawal that a policy holds
         * @description Ends a withdrawal that waits for the approval that a policy of the operator requires, as FAILED. Its total returns. Scope: `operator:approve`.
         */
        post: operations["refuseHeldWithdrawal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/withdrawals/{id}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Release a withdrawal that a policy holds
         * @description Gives the approval that a policy of the operator requires. The withdrawal is submitted, unless something else holds it. The person or client that requested the withdrawal cannot release it, nor can another client of the same person. Scope: `operator:approve`.
         */
        post: operations["releaseHeldWithdrawal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/operator/withdrawals/{id}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resolve a withdrawal whose rail cannot tell
         * @description Ends a withdrawal that was submitted, by the evidence in `reference`. What the rail reports afterwards moves nothing: if it differs, it is listed as a contradiction. The operation is refused while the withdrawal is QUEUED, and while it is being submitted. Scope: `operator:journal`.
         */
        post: operations["resolveWithdrawal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/people": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List people
         * @description The people of your customer. People of the operator see everybody. Scope: `people:read_person`.
         */
        get: operations["listPeople"];
        put?: never;
        /**
         * Add a person
         * @description Send `enrolment_url` to the person, who creates a passkey with it, within 72 hours and once. There are no passwords. Scope: `people:write_person`. A person must have signed in, or stepped up, within the last 10 minutes.
         */
        post: operations["createPerson"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/people/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a person
         * @description Scope: `people:read_person`.
         */
        get: operations["getPerson"];
        /**
         * Change the roles or the name of a person
         * @description The new roles count from the next request of the person on. Nobody can change their own. Scope: `people:write_person`. A person must have signed in, or stepped up, within the last 10 minutes.
         */
        put: operations["changePerson"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/people/{id}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Disable a person
         * @description For good, and at once: all sessions end, and passkeys and the enrolment link are removed. Scope: `people:write_person`.
         */
        post: operations["disablePerson"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/people/{id}/enrolment-links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a new enrolment link
         * @description For a person who has not used the first one, or has no device any more. Replaces the link before; passkeys stay. Scope: `people:write_person`. A person must have signed in, or stepped up, within the last 10 minutes.
         */
        post: operations["createEnrolmentLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/people/{id}/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the sessions of a person
         * @description Those that have not ended; there are at most 10. Scope: `people:read_person`.
         */
        get: operations["listPersonSessions"];
        put?: never;
        post?: never;
        /**
         * End all sessions of a person
         * @description At once, on every node. The person can sign in again. Scope: `people:write_person`.
         */
        delete: operations["endPersonSessions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/policies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your policies
         * @description Scope: `policy:read_policy`.
         */
        get: operations["listOwnPolicies"];
        put?: never;
        /**
         * Create or change a policy
         * @description Rules for your own withdrawals. A policy of a name that exists gets a new version; earlier versions stay. What exceeds a limit is refused when it is requested; what needs time or a decision is held. The answer comes when no withdrawal is decided on the version before. Scope: `policy:write_policy`.
         */
        post: operations["changeOwnPolicy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/policies/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a policy
         * @description Scope: `policy:read_policy`.
         */
        get: operations["getOwnPolicy"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/policies/{id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the versions of a policy
         * @description Scope: `policy:read_policy`.
         */
        get: operations["listOwnPolicyVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/policies/dry-run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Show what a policy would have held or refused
         * @description Evaluates the rules on your own withdrawals of the last 30 days, at most the latest 10000, each at its own time. Nothing is stored. Rules that ask for a screening count as held. Scope: `policy:write_policy`.
         */
        post: operations["dryRunOwnPolicy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/policies/held-withdrawals/{id}/refuse": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Refuse a withdrawal that a policy holds
         * @description Ends a withdrawal that waits for the approval that a policy of your own requires, as FAILED. Its total returns. Scope: `policy:approve_withdrawal`.
         */
        post: operations["refuseOwnHeldWithdrawal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/policies/held-withdrawals/{id}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Release a withdrawal that a policy holds
         * @description Gives the approval that a policy of your own requires. The withdrawal is submitted, unless something else holds it. The person or client that requested the withdrawal cannot release it, nor can another client of the same person. Scope: `policy:approve_withdrawal`.
         */
        post: operations["releaseOwnHeldWithdrawal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/profiles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List profiles
         * @description Scope: `funding:read_profile`.
         */
        get: operations["listProfiles"];
        put?: never;
        /**
         * Create a profile
         * @description The first profile that you create has the type DEFAULT, later ones NORMAL. If one of your profiles already has the nickname, the request is refused, and the problem contains that profile. Scope: `funding:write_profile`.
         */
        post: operations["createProfile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/profiles/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a profile
         * @description Scope: `funding:read_profile`.
         */
        get: operations["getProfile"];
        /**
         * Update a profile
         * @description Changes the given fields; the others keep their values. A nickname that another of your profiles has is refused, and the problem contains that profile. Scope: `funding:write_profile`.
         */
        put: operations["updateProfile"];
        post?: never;
        /**
         * Deactivate a profile
         * @description Nothing can be sent from or to the profile any more, and deposits that arrive for it wait for an operator. It can still be read, and keeps its nickname. A profile that has a balance, available or held, is refused. Only an operator can activate it again. Scope: `funding:write_profile`.
         */
        delete: operations["deactivateProfile"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/profiles/{id}/balances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the balances of a profile
         * @description The balances of all assets that the profile has ever had; with `at`, as they were at that time. Scope: `funding:read_profile`.
         */
        get: operations["listBalances"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/profiles/{id}/balances/{asset}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the balance of one asset
         * @description Zero for an asset that the profile has never had; with `at`, the balance at that time. Scope: `funding:read_profile`.
         */
        get: operations["getBalance"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/profiles/{id}/entries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the entries of a profile and asset
         * @description Every change of `available` and `held`, with the balance after it and its cause. `created_at` is the instant `at` of an entry. Scope: `funding:read_profile`.
         */
        get: operations["listProfileEntries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/profiles/{id}/incoming": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Choose who may pay a profile
         * @description By default every customer may pay the profile and propose settlements to it. `LISTED` limits this to `profile_ids`; with an empty list, to your own profiles. Others get the answer for a profile that does not exist. Deposits, and transactions that you affirmed before, are not affected. Scope: `funding:write_profile`.
         */
        put: operations["setProfileIncoming"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/profiles/{id}/statements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a statement of a period
         * @description Opening balance, movements and closing balance of a period, as JSON, CSV (`Accept: text/csv`) or ISO 20022 camt.053.001.08 (`Accept: application/xml`; only assets with a code of three letters and up to 5 decimals). A movement is a change of what the profile owns; value that is put on hold for a withdrawal is still owned. The period must be final: `to` is at least 2 seconds ago. The closing balance of a period is the opening balance of the one that starts at its `to`. Statements are streamed and can have any length. One that cannot be completed is cut off: its last line, `]}` or closing tag is missing. Scope: `funding:read_profile`.
         */
        get: operations["getStatement"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/sandbox/crypto-deposits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Simulate a payment to a deposit address
         * @description The same tx_hash and tx_index are credited once. A payment to an unknown address is kept in suspense. Scope: `sandbox:simulate`. Only in the sandbox.
         */
        post: operations["simulateCryptoDeposit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/sandbox/fiat-accounts/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve one of your fiat accounts
         * @description Scope: `sandbox:simulate`. Only in the sandbox.
         */
        post: operations["simulateFiatAccountApproval"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/sandbox/fiat-accounts/{id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reject one of your fiat accounts
         * @description Scope: `sandbox:simulate`. Only in the sandbox.
         */
        post: operations["simulateFiatAccountRejection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/sandbox/fiat-deposits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Simulate a bank payment with a memo
         * @description The same reference on the same account is credited once. A payment with an unknown memo is kept in suspense. Scope: `sandbox:simulate`. Only in the sandbox.
         */
        post: operations["simulateFiatDeposit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/sandbox/profiles/{id}/deposit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Simulate a deposit
         * @description Credits a profile as if a wire (USD) or an on-chain payment had arrived. `crypto_network` is required if the asset is on several networks. Scope: `sandbox:simulate`. Only in the sandbox.
         */
        post: operations["simulateDeposit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/sandbox/transfers/{id}/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Complete a pending withdrawal
         * @description Scope: `sandbox:simulate`. Only in the sandbox.
         */
        post: operations["simulateTransferCompletion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/sandbox/transfers/{id}/fail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fail a pending withdrawal; the full total is returned
         * @description Scope: `sandbox:simulate`. Only in the sandbox.
         */
        post: operations["simulateTransferFailure"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/settlement/transactions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List settlement transactions
         * @description The transactions in which one of your profiles is the source or the target. Scope: `settlement:read_transaction`.
         */
        get: operations["listSettlementTransactions"];
        put?: never;
        /**
         * Create a settlement transaction
         * @description Proposes to the owner of the target profile that all legs settle together. Nothing moves and nothing is held until the target has affirmed and the window is open. Scope: `settlement:write_transaction`.
         */
        post: operations["createSettlementTransaction"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/settlement/transactions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a settlement transaction
         * @description `secondary_status` says why the transaction has not settled: what it waits for, and which side lacks which asset, and how much if that side is yours. Scope: `settlement:read_transaction`.
         */
        get: operations["getSettlementTransaction"];
        put?: never;
        post?: never;
        /**
         * Cancel a settlement transaction
         * @description By the owner of the source profile, as long as the target has not affirmed. Scope: `settlement:write_transaction`.
         */
        delete: operations["cancelSettlementTransaction"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/settlement/transactions/{id}/affirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Affirm a settlement transaction
         * @description By the owner of the target profile. The transaction settles in its window, as soon as all legs are covered. Scope: `settlement:write_transaction`.
         */
        put: operations["affirmSettlementTransaction"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/transfer/crypto-destination-addresses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List saved crypto addresses
         * @description Scope: `policy:read_policy`.
         */
        get: operations["listCryptoDestinationAddresses"];
        put?: never;
        /**
         * Save a crypto address to withdraw to
         * @description Puts the address on your list of destinations, with a label, as `POST /v2/destinations` does: for policies that allow only listed destinations, the cooling-off time begins when it is listed. An address that is saved already stays as it is. Withdraw to it by its `address`. Scope: `policy:write_policy`.
         */
        post: operations["createCryptoDestinationAddress"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/transfer/crypto-destination-addresses/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a saved crypto address
         * @description Scope: `policy:read_policy`.
         */
        get: operations["getCryptoDestinationAddress"];
        put?: never;
        post?: never;
        /**
         * Delete a saved crypto address
         * @description Takes the address off your list of destinations. Withdrawals that were accepted before are paid. Scope: `policy:write_policy`.
         */
        delete: operations["deleteCryptoDestinationAddress"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/transfer/crypto-withdrawals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a crypto withdrawal
         * @description Sends an asset to an address on a crypto network. The total is held at once; the withdrawal is PENDING until the network has confirmed it. Scope: `transfer:write_crypto_withdrawal`.
         */
        post: operations["createCryptoWithdrawal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/transfer/deposit-addresses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deposit addresses
         * @description Scope: `transfer:read_deposit_address`.
         */
        get: operations["listDepositAddresses"];
        put?: never;
        /**
         * Create a deposit address
         * @description Creates an address of the profile on a crypto network. Deposits to it are credited to the profile, with the metadata of this request. Scope: `transfer:write_deposit_address`.
         */
        post: operations["createDepositAddress"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/transfer/fees/crypto-withdrawal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Guarantee the fee of a crypto withdrawal
         * @description Fixes the fee of one crypto withdrawal for 15 minutes: same asset, network and destination, at most the quoted amount. Send its id as fee_id. Scope: `fee:write_crypto_withdrawal_fee`.
         */
        post: operations["createCryptoWithdrawalFee"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/transfer/fiat-accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List fiat accounts
         * @description Scope: `transfer:read_fiat_account`.
         */
        get: operations["listFiatAccounts"];
        put?: never;
        /**
         * Create a fiat account
         * @description Registers a bank account that money can be sent to. It is created PENDING and then reviewed; the sandbox approves accounts that pass the automatic checks. Scope: `transfer:write_fiat_account`.
         */
        post: operations["createFiatAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/transfer/fiat-accounts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a fiat account
         * @description Scope: `transfer:read_fiat_account`.
         */
        get: operations["getFiatAccount"];
        /**
         * Update a fiat account
         * @description Changes the given fields; the others keep their values. An account number that is absent, or masked as answers show it, is unchanged: so an answer can be changed and sent back. Instructions with all required fields replace the stored ones. The account becomes PENDING and is reviewed again. The kind of instructions cannot change. Scope: `transfer:write_fiat_account`.
         */
        put: operations["updateFiatAccount"];
        post?: never;
        /**
         * Delete a fiat account
         * @description The account can no longer be read, listed or paid to. Its number, its names and the address of its owner are erased, within seconds also in its earlier events. The answer, with deleted_at, shows what is left. Scope: `transfer:write_fiat_account`.
         */
        delete: operations["deleteFiatAccount"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/transfer/fiat-deposit-instructions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List fiat deposit instructions
         * @description Scope: `transfer:read_fiat_deposit_instructions`.
         */
        get: operations["listFiatDepositInstructions"];
        put?: never;
        /**
         * Create fiat deposit instructions
         * @description Returns the account to pay to, and the memo_id to put into the memo. Payments with it are credited to the profile, with the metadata of this request. Scope: `transfer:write_fiat_deposit_instructions`.
         */
        post: operations["createFiatDepositInstructions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/transfer/fiat-deposit-instructions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get fiat deposit instructions
         * @description Scope: `transfer:read_fiat_deposit_instructions`.
         */
        get: operations["getFiatDepositInstructions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/transfer/fiat-withdrawals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a fiat withdrawal
         * @description Sends USD to a fiat account. The total is held at once; the withdrawal is PENDING until the rail has answered, and waits for as long as the fiat account is not approved. Scope: `transfer:write_fiat_withdrawal`.
         */
        post: operations["createFiatWithdrawal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/transfer/internal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create an internal transfer
         * @description Moves an asset between two of your own profiles. Scope: `transfer:write_internal_transfer`.
         */
        post: operations["createInternalTransfer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/transfer/limits/utilizations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show what is used of the limits
         * @description The velocity limits for withdrawals of an asset from a profile, of the operator and your own. Scope: `policy:read_policy`.
         */
        get: operations["listLimitUtilizations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/transfer/platform": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a platform transfer
         * @description Moves an asset between two profiles of the service. The debit side and the credit side complete in one transaction; the answer is the debit side. Scope: `transfer:write_platform_transfer`.
         */
        post: operations["createPlatformTransfer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/transfer/platform/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create many platform transfers
         * @description Up to 1000 platform transfers in one request. Each is executed or refused by itself, and has its own answer; with `atomic`, all are executed, or none: then the answer is the problem of the transfer that was refused, with its `index` in `meta`. A `ref_id` is the same transfer as in a request of its own, so a request whose answer was lost can be repeated as it is. In rate limits, each transfer counts as one request. Scope: `transfer:write_platform_transfer`.
         */
        post: operations["createPlatformTransfers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/transfer/transfers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List transfers
         * @description Scope: `transfer:read_transfer`.
         */
        get: operations["listTransfers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/transfer/transfers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a transfer
         * @description Scope: `transfer:read_transfer`.
         */
        get: operations["getTransfer"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** Account */
        Account: {
            /**
             * Format: date-time
             * @description Record creation time
             */
            created_at: string;
            /** @description Free text */
            description?: string;
            /**
             * Format: uuid
             * @description Account identifier
             */
            id: string;
            /**
             * Format: uuid
             * @description Identity that owns the account
             */
            identity_id: string;
            /** @description In the order in which they were added */
            members: components["schemas"]["AccountMember"][];
            /** @description Up to 6 string key–value pairs; each key and value has at most 100 characters. */
            metadata?: {
                [key: string]: string;
            };
            /**
             * Format: uuid
             * @description Profile that was created together with the account
             */
            profile_id?: string;
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id?: string;
            /** @enum {string} */
            type: "BROKERAGE" | "CUSTODY" | "OTHER";
            /**
             * Format: date-time
             * @description Last update time
             */
            updated_at: string;
        };
        /** AccountBalance */
        AccountBalance: {
            /** @description `available` and `held`: of all profiles together; otherwise an account of the service */
            account: string;
            /**
             * @description Signed; absent while the asset is not configured
             * @example 25.5
             */
            balance?: string;
            /** @description Only while the asset is not configured */
            balance_units?: string;
        };
        /** AccountList */
        AccountList: {
            items: components["schemas"]["Account"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** AccountMember */
        AccountMember: {
            /**
             * Format: uuid
             * @description Member identifier
             */
            id: string;
            /**
             * Format: uuid
             * @description Identity on the account
             */
            identity_id: string;
            /** @description Roles of the member on the account */
            roles: ("BENEFICIAL_OWNER" | "AUTHORIZED_USER" | "FINANCIAL_ADVISOR")[];
        };
        /**
         * AccountMemberEvent
         * @description An event whose `data` is of the type AccountMember
         */
        AccountMemberEvent: components["schemas"]["Event"] & {
            data?: components["schemas"]["AccountMember"];
        };
        /**
         * Actor
         * @description Who did it
         */
        Actor: {
            /**
             * Format: uuid
             * @description Customer of the client or person
             */
            customer_id?: string;
            /** @description Address that the request came from */
            from?: string;
            /** @description Client, person, worker, or user of the command line */
            id?: string;
            /** @enum {string} */
            kind: "CLIENT" | "PERSON" | "WORKER" | "CLI";
            name?: string;
            /**
             * Format: uuid
             * @description Person who owns the client
             */
            owner_person_id?: string;
            /** @description X-Request-Id of the request */
            request_id?: string;
        };
        /** AddAccountMembersRequest */
        AddAccountMembersRequest: {
            /**
             * Format: uuid
             * @description Account to which members are added
             */
            account_id: string;
            /** @description Identities and their roles */
            members: {
                /**
                 * Format: uuid
                 * @description Identity to add to the account
                 */
                identity_id: string;
                /** @description Roles of the member on the account */
                roles: ("BENEFICIAL_OWNER" | "AUTHORIZED_USER" | "FINANCIAL_ADVISOR")[];
            }[];
        };
        /** AddCredentialsRequest */
        AddCredentialsRequest: {
            /**
             * Format: date-time
             * @description Of the new secret, if no keys are given: from then on it is refused
             */
            expires_at?: string;
            /** @description Public JSON Web Keys (RFC 7517) with which the client authenticates: then it gets no secret */
            keys?: components["schemas"]["PublicJwkRequest"][];
        };
        /** AddedAccountMembers */
        AddedAccountMembers: {
            /**
             * Format: uuid
             * @description Account
             */
            account_id: string;
            members: components["schemas"]["AccountMember"][];
        };
        /** Approval */
        Approval: {
            /**
             * @description What is proposed
             * @enum {string}
             */
            action: "journal_entry.book" | "withdrawal.resolve" | "withdrawal.cancel" | "suspense_deposit.credit" | "fiat_account.approve" | "fiat_account.reject" | "withdrawal.release" | "withdrawal.refuse" | "own_withdrawal.release" | "own_withdrawal.refuse" | "policy.change" | "own_policy.change" | "own_destination.list" | "freeze.create" | "freeze.lift" | "client.create" | "client.change" | "client.disable" | "client.enable" | "client.add_credentials" | "client.remove_credential" | "person.create" | "person.change" | "person.link" | "own_person.create" | "own_person.change" | "own_person.link";
            /** @description The only ones who may approve it */
            approvers?: string[];
            /**
             * Format: date-time
             * @description When its maker took the secret or the enrolment link
             */
            claimed_at?: string;
            /**
             * Format: date-time
             * @description When it was proposed
             */
            created_at: string;
            /** @description Of exactly what is proposed; a vote names it */
            digest: string;
            /**
             * Format: date-time
             * @description When it expires, unless it was decided before
             */
            expires_at: string;
            /**
             * Format: uuid
             * @description Request
             */
            id: string;
            /**
             * @description Who approves it
             * @enum {string}
             */
            level: "OPERATOR" | "CUSTOMER";
            maker: components["schemas"]["Actor"];
            /** @description Why the execution was refused */
            problem?: {
                detail: string;
                slug: string;
                title: string;
            };
            /** @description Exactly what is proposed */
            proposal: {
                [key: string]: unknown;
            };
            /** @description How many must approve it */
            quorum: number;
            ref_id?: string;
            /** @description What the execution made */
            result?: {
                id: string;
                type: string;
            };
            /** @enum {string} */
            status: "PENDING" | "EXECUTED" | "FAILED" | "REJECTED" | "EXPIRED";
            /** @description What will happen */
            summary: string;
            /**
             * Format: date-time
             * @description When it changed last
             */
            updated_at: string;
            votes: {
                by: components["schemas"]["Actor"];
                /**
                 * Format: date-time
                 * @description When
                 */
                created_at: string;
                /** @enum {string} */
                decision: "APPROVED" | "REJECTED";
                reason?: string;
            }[];
        };
        /** ApprovalList */
        ApprovalList: {
            items: components["schemas"]["Approval"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** ApproveRequest */
        ApproveRequest: {
            /** @description Identifies the version of the account that was shown: the `digest` of a view */
            digest: string;
            /** @description Included in the event that the customer receives */
            reason?: string;
        };
        /** Asset */
        Asset: {
            /**
             * @description Code
             * @example USD
             */
            asset: string;
            /** @description Digits after the decimal point that an amount may have */
            decimals: number;
            /** @enum {string} */
            kind: "FIAT" | "CRYPTO" | "STABLECOIN";
            /** @description What carries the asset */
            rails: {
                /**
                 * @description Fee of a deposit, in the asset. Absent if nothing can be deposited over the rail
                 * @example 25.5
                 */
                deposit_fee?: string;
                /** @description Kind of fiat account, or crypto network */
                rail: string;
                /**
                 * @description Fee of a withdrawal, in the asset. Absent if nothing can be withdrawn over the rail
                 * @example 25.5
                 */
                withdrawal_fee?: string;
            }[];
        };
        /** AssetList */
        AssetList: {
            items: components["schemas"]["Asset"][];
        };
        /** AssetTrialBalance */
        AssetTrialBalance: {
            accounts: components["schemas"]["AccountBalance"][];
            /**
             * @description Asset
             * @example USD
             */
            asset: string;
            /**
             * @description The sum of the accounts: "0", or the ledger is broken
             * @example 25.5
             */
            total: string;
        };
        /** AuditEntry */
        AuditEntry: {
            /** @description The type of the resource, and what happened: profile.created */
            action: string;
            actor?: components["schemas"]["Actor"];
            /** @description The resource after the change; absent if it does not exist any more */
            after?: {
                [key: string]: unknown;
            };
            /** @description The resource before the change; absent if it was created */
            before?: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When
             */
            created_at: string;
            /**
             * Format: uuid
             * @description Customer whom it concerns
             */
            customer_id?: string;
            /**
             * Format: uuid
             * @description Entry; the same as that of the event, if customers get one
             */
            id: string;
            /** @enum {string} */
            outcome: "DONE" | "REFUSED";
            refusal?: {
                /** @description Attempts within a minute that count as one */
                attempts: number;
                detail: string;
                problem: string;
            };
            resource_id: string;
            resource_type: string;
        };
        /** AuditList */
        AuditList: {
            items: components["schemas"]["AuditEntry"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** Balance */
        Balance: {
            /**
             * @description Asset
             * @example USD
             */
            asset: string;
            /**
             * @description Amount that can be spent
             * @example 25.5
             */
            available: string;
            /**
             * @description Amount that is reserved by pending withdrawals
             * @example 25.5
             */
            held: string;
            /**
             * @description Always "0": this service does not trade
             * @example 25.5
             */
            trading: string;
        };
        /** BalanceList */
        BalanceList: {
            items: components["schemas"]["Balance"][];
        };
        /** BulkTransferItemRequest */
        BulkTransferItemRequest: {
            /**
             * @description Amount to transfer
             * @example 25.5
             */
            amount: string;
            /**
             * @description Asset to transfer
             * @example USD
             */
            asset: string;
            /**
             * Format: uuid
             * @description Account of the sending user; required for third-party integrations
             */
            from_account_id?: string;
            /**
             * Format: uuid
             * @description Identity of the sending user
             */
            from_identity_id?: string;
            /**
             * Format: uuid
             * @description Sending profile
             */
            from_profile_id: string;
            /** @description Up to 6 string key–value pairs; each key and value has at most 100 characters. */
            metadata?: {
                [key: string]: string;
            };
            /** @description Up to 6 string key–value pairs; each key and value has at most 100 characters. */
            recipient_metadata?: {
                [key: string]: string;
            };
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id: string;
            /**
             * Format: uuid
             * @description Account of the destination user; required for third-party integrations
             */
            to_account_id?: string;
            /**
             * Format: uuid
             * @description Identity of the destination user
             */
            to_identity_id?: string;
            /**
             * Format: uuid
             * @description Destination profile
             */
            to_profile_id: string;
        };
        /** BulkTransferRequest */
        BulkTransferRequest: {
            /** @description All or none; otherwise each transfer is executed or refused by itself */
            atomic?: boolean;
            /** @description Every `ref_id` is a different one. With `atomic`, executed in this order; otherwise in any order. */
            transfers: components["schemas"]["BulkTransferItemRequest"][];
        };
        /** BulkTransferResult */
        BulkTransferResult: {
            problem?: components["schemas"]["Problem"];
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id: string;
            /** @description `true` if this is the record of an earlier, equal request */
            replayed?: boolean;
            /** @description The status that a request for this transfer alone has */
            status: number;
            transfer?: components["schemas"]["Transfer"];
        };
        /** BulkTransferResults */
        BulkTransferResults: {
            /** @description One for each transfer, in the order of the request: `transfer` or `problem` */
            results: components["schemas"]["BulkTransferResult"][];
        };
        /** CancelWithdrawalRequest */
        CancelWithdrawalRequest: {
            /** @description Shown to the customers concerned, in their events */
            note?: string;
            /** @description Why; for operators, never shown to customers */
            reason: string;
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id: string;
            /** @description The evidence outside: the bank's reference, the transaction hash, or the number of a case */
            reference: string;
        };
        /**
         * Cause
         * @description Why value moved
         */
        Cause: {
            /**
             * Format: uuid
             * @description The transfer, settlement transaction, journal entry or suspense deposit
             */
            id: string;
            /** @description Type of the transfer, or kind of the journal entry */
            kind?: string;
            /** @description Of the journal entry, for you */
            note?: string;
            /** @description Of the transfer */
            ref_id?: string;
            /** @enum {string} */
            type: "TRANSFER" | "SETTLEMENT" | "JOURNAL_ENTRY" | "SUSPENSE_DEPOSIT" | "CONVERSION" | "UNKNOWN";
        };
        /** ChangeClientRequest */
        ChangeClientRequest: {
            /** @description Addresses or ranges that the client may be used from; empty: anywhere */
            allowed_addresses?: string[];
            /**
             * Format: uuid
             * @description The person who owns it
             */
            owner_person_id?: string;
            /** @description What the client may do */
            scopes?: ("transfer:write_fiat_withdrawal" | "transfer:write_crypto_withdrawal" | "transfer:write_platform_transfer" | "transfer:write_internal_transfer" | "transfer:read_transfer" | "transfer:write_fiat_account" | "transfer:read_fiat_account" | "transfer:write_deposit_address" | "transfer:read_deposit_address" | "transfer:write_fiat_deposit_instructions" | "transfer:read_fiat_deposit_instructions" | "fee:write_crypto_withdrawal_fee" | "conversion:write_conversion_stablecoin" | "conversion:read_conversion_stablecoin" | "settlement:write_transaction" | "settlement:read_transaction" | "identity:write_identity" | "identity:read_identity" | "identity:write_account" | "identity:read_account" | "funding:write_profile" | "funding:read_profile" | "policy:read_policy" | "policy:write_policy" | "policy:approve_withdrawal" | "events:read_event" | "events:write_webhook" | "people:read_person" | "people:write_person" | "control:read_audit_log" | "control:read_client" | "control:read_approval" | "control:approve" | "sandbox:simulate" | "operator:read" | "operator:journal" | "operator:review" | "operator:approve" | "operator:admin")[];
        };
        /** ChangePersonRequest */
        ChangePersonRequest: {
            /** @description For people */
            name?: string;
            /** @description VIEWER reads, MAKER requests, APPROVER approves, ADMINISTRATOR manages people and webhooks */
            roles?: ("VIEWER" | "MAKER" | "APPROVER" | "ADMINISTRATOR")[];
        };
        /** Claim */
        Claim: {
            /**
             * Format: uuid
             * @description Request
             */
            approval_id: string;
            client_id?: string;
            /** @description Store it now: it is not shown again */
            client_secret?: string;
            /**
             * Format: date-time
             * @description When the link expires
             */
            enrolment_expires_at?: string;
            /** @description Send it to the person, who creates a passkey with it, once */
            enrolment_url?: string;
            /**
             * Format: uuid
             * @description Person
             */
            person_id?: string;
            /**
             * Format: uuid
             * @description Secret of the client
             */
            secret_id?: string;
        };
        /** ClientCredentials */
        ClientCredentials: {
            /** @description Identifier */
            client_id: string;
            /** @description Store it now: it is not shown again */
            client_secret?: string;
            /** @description What was added or removed */
            credential_ids: string[];
        };
        /** ClientDetails */
        ClientDetails: {
            allowed_addresses?: string[];
            /** @description Identifier */
            client_id: string;
            /**
             * Format: date-time
             * @description Creation time
             */
            created_at: string;
            credentials: {
                /**
                 * Format: date-time
                 * @description When it was added
                 */
                created_at: string;
                /**
                 * Format: date-time
                 * @description From then on it is refused
                 */
                expires_at?: string;
                /** @description Of a secret, or the key id (`kid`) */
                id: string;
                /** @enum {string} */
                type: "SECRET" | "KEY";
            }[];
            /**
             * Format: uuid
             * @description The customer of the client
             */
            customer_id: string;
            /**
             * Format: date-time
             * @description Since when it is disabled; absent: it is not
             */
            disabled_at?: string;
            /** @description A label */
            name: string;
            /**
             * Format: uuid
             * @description The person who owns it
             */
            owner_person_id?: string;
            scopes: string[];
        };
        /** ClientList */
        ClientList: {
            items: components["schemas"]["OAuthClient"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** CreateAccountRequest */
        CreateAccountRequest: {
            account: {
                /** @description Free text */
                description?: string;
                /**
                 * Format: uuid
                 * @description Identity that owns the account
                 */
                identity_id: string;
                /** @description Identities and their roles */
                members?: {
                    /**
                     * Format: uuid
                     * @description Identity to add to the account
                     */
                    identity_id: string;
                    /** @description Roles of the member on the account */
                    roles: ("BENEFICIAL_OWNER" | "AUTHORIZED_USER" | "FINANCIAL_ADVISOR")[];
                }[];
                /** @description Up to 6 string key–value pairs; each key and value has at most 100 characters. */
                metadata?: {
                    [key: string]: string;
                };
                /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
                ref_id?: string;
                /**
                 * @description Default BROKERAGE
                 * @enum {string}
                 */
                type?: "BROKERAGE" | "CUSTODY" | "OTHER";
            };
            /** @description Whether to create a profile for the account as well; default false */
            create_profile?: boolean;
        };
        /** CreateClientRequest */
        CreateClientRequest: {
            /**
             * Format: uuid
             * @description The customer of the client
             */
            customer_id: string;
            /** @description The id of the client at your external issuer: it gets no secret */
            external_id?: string;
            /** @description Public JSON Web Keys (RFC 7517) with which the client authenticates: then it gets no secret */
            keys?: components["schemas"]["PublicJwkRequest"][];
            /** @description A label */
            name: string;
            /**
             * Format: uuid
             * @description The person who owns it: counts as that person in approvals
             */
            owner_person_id?: string;
            /** @description What the client may do */
            scopes: ("transfer:write_fiat_withdrawal" | "transfer:write_crypto_withdrawal" | "transfer:write_platform_transfer" | "transfer:write_internal_transfer" | "transfer:read_transfer" | "transfer:write_fiat_account" | "transfer:read_fiat_account" | "transfer:write_deposit_address" | "transfer:read_deposit_address" | "transfer:write_fiat_deposit_instructions" | "transfer:read_fiat_deposit_instructions" | "fee:write_crypto_withdrawal_fee" | "conversion:write_conversion_stablecoin" | "conversion:read_conversion_stablecoin" | "settlement:write_transaction" | "settlement:read_transaction" | "identity:write_identity" | "identity:read_identity" | "identity:write_account" | "identity:read_account" | "funding:write_profile" | "funding:read_profile" | "policy:read_policy" | "policy:write_policy" | "policy:approve_withdrawal" | "events:read_event" | "events:write_webhook" | "people:read_person" | "people:write_person" | "control:read_audit_log" | "control:read_client" | "control:read_approval" | "control:approve" | "sandbox:simulate" | "operator:read" | "operator:journal" | "operator:review" | "operator:approve" | "operator:admin")[];
        };
        /** CreatedClient */
        CreatedClient: {
            allowed_addresses?: string[];
            /** @description Identifier */
            client_id: string;
            /** @description Store it now: it is not shown again */
            client_secret?: string;
            /**
             * Format: date-time
             * @description Creation time
             */
            created_at: string;
            /**
             * Format: uuid
             * @description The customer of the client
             */
            customer_id: string;
            /**
             * Format: date-time
             * @description Since when it is disabled; absent: it is not
             */
            disabled_at?: string;
            /** @description A label */
            name: string;
            /**
             * Format: uuid
             * @description The person who owns it
             */
            owner_person_id?: string;
            scopes: string[];
        };
        /** CreatedPerson */
        CreatedPerson: {
            /**
             * Format: date-time
             * @description Creation time
             */
            created_at: string;
            /**
             * Format: uuid
             * @description The customer of the person; absent for people of the operator
             */
            customer_id?: string;
            /** @description Unique among your active people. Finds the person at the first sign-in with an OpenID provider */
            email: string;
            /**
             * Format: date-time
             * @description When the link expires
             */
            enrolment_expires_at: string;
            /** @description Send it to the person, who creates a passkey with it, once. It is not shown again */
            enrolment_url: string;
            /**
             * Format: uuid
             * @description Identifier
             */
            id: string;
            /** @description For people */
            name: string;
            /** @description Passkeys that the person can sign in with */
            passkeys: number;
            /** @description VIEWER reads, MAKER requests, APPROVER approves, ADMINISTRATOR manages people and webhooks */
            roles: ("VIEWER" | "MAKER" | "APPROVER" | "ADMINISTRATOR")[];
            /** @enum {string} */
            status: "ACTIVE" | "DISABLED";
            /**
             * Format: date-time
             * @description Last change of name, roles or status
             */
            updated_at: string;
        };
        /** CreateFiatAccountRequest */
        CreateFiatAccountRequest: {
            /**
             * Format: uuid
             * @description Account of the user; required for third-party integrations
             */
            account_id?: string;
            /** @description Exactly one of person_details and institution_details */
            fiat_account_owner: {
                institution_details?: {
                    /** @description Name of the institution */
                    name: string;
                };
                person_details?: {
                    /** @description First name */
                    first_name: string;
                    /** @description Last name */
                    last_name: string;
                };
            };
            /** @description Exactly one kind */
            fiat_network_instructions: {
                bank_network_2?: {
                    /** @description Account number or IBAN, without blanks */
                    account_number: string;
                };
                bank_network_3?: {
                    /** @description Account number or IBAN, without blanks */
                    account_number: string;
                };
                cbit?: {
                    /** @description Wallet on the CBIT network */
                    wallet_address: string;
                };
                cubix?: {
                    /** @description Account on the first bank network */
                    account_id: string;
                };
                wire?: {
                    /** @description Account number or IBAN, without blanks */
                    account_number: string;
                    /** @description Address of the owner of the account */
                    fiat_account_owner_address: {
                        /** @description Street and number */
                        address1?: string;
                        /** @description More of the street address */
                        address2?: string;
                        /** @description City */
                        city?: string;
                        /** @description ISO 3166 code of two or three letters; anything else waits for an operator */
                        country: string;
                        /** @description State or province */
                        province?: string;
                        /** @description Postal code */
                        zip_code?: string;
                    };
                    /** @description The intermediary bank, if any */
                    intermediary_routing_details?: {
                        /** @description Address of the bank */
                        bank_address: {
                            /** @description Street and number */
                            address1?: string;
                            /** @description More of the street address */
                            address2?: string;
                            /** @description City */
                            city?: string;
                            /** @description ISO 3166 code of two or three letters; anything else waits for an operator */
                            country: string;
                            /** @description State or province */
                            province?: string;
                            /** @description Postal code */
                            zip_code?: string;
                        };
                        /** @description Name of the bank */
                        bank_name: string;
                        /** @description ABA: nine digits. SWIFT: a BIC of 8 or 11 characters (ISO 9362) */
                        routing_number: string;
                        /** @enum {string} */
                        routing_number_type: "ABA" | "SWIFT";
                    };
                    /** @description The bank that holds the account */
                    routing_details: {
                        /** @description Address of the bank */
                        bank_address: {
                            /** @description Street and number */
                            address1?: string;
                            /** @description More of the street address */
                            address2?: string;
                            /** @description City */
                            city?: string;
                            /** @description ISO 3166 code of two or three letters; anything else waits for an operator */
                            country: string;
                            /** @description State or province */
                            province?: string;
                            /** @description Postal code */
                            zip_code?: string;
                        };
                        /** @description Name of the bank */
                        bank_name: string;
                        /** @description ABA: nine digits. SWIFT: a BIC of 8 or 11 characters (ISO 9362) */
                        routing_number: string;
                        /** @enum {string} */
                        routing_number_type: "ABA" | "SWIFT";
                    };
                };
            };
            /**
             * Format: uuid
             * @description Identity of the user; required for third-party integrations
             */
            identity_id?: string;
            /** @description Up to 6 string key–value pairs; each key and value has at most 100 characters. */
            metadata?: {
                [key: string]: string;
            };
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id?: string;
        };
        /** CreateIdentityRequest */
        CreateIdentityRequest: {
            /** @description Of an institution */
            institution_details?: {
                /** @description Name */
                name: string;
            };
            /** @description Up to 6 string key–value pairs; each key and value has at most 100 characters. */
            metadata?: {
                [key: string]: string;
            };
            /** @description Of a person */
            person_details?: {
                /** @description First name */
                first_name: string;
                /** @description Last name */
                last_name: string;
            };
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id?: string;
            /** @enum {string} */
            type?: "PERSON" | "INSTITUTION";
        };
        /** CreatePersonRequest */
        CreatePersonRequest: {
            /**
             * Format: uuid
             * @description For the operator: the customer of the person; without it, the person is one of the operator
             */
            customer_id?: string;
            /** @description Unique among your active people. Finds the person at the first sign-in with an OpenID provider */
            email: string;
            /** @description For people */
            name: string;
            /** @description VIEWER reads, MAKER requests, APPROVER approves, ADMINISTRATOR manages people and webhooks */
            roles: ("VIEWER" | "MAKER" | "APPROVER" | "ADMINISTRATOR")[];
        };
        /** CreateProfileRequest */
        CreateProfileRequest: {
            /**
             * Format: uuid
             * @description Account that the profile belongs to
             */
            account_id?: string;
            /** @description Free text */
            description?: string;
            /** @description Unique among your profiles */
            nickname: string;
        };
        /** CreateWebhookRequest */
        CreateWebhookRequest: {
            description?: string;
            /** @description Types of events to send. Default: all, `["*"]` */
            event_types?: string[];
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id?: string;
            /**
             * @description Where events are sent with POST. In production: https and a public address
             * @example https://example.com/ferry
             */
            url: string;
        };
        /** CreditSuspenseDepositRequest */
        CreditSuspenseDepositRequest: {
            /** @description Shown to the customers concerned, in their events */
            note?: string;
            /**
             * Format: uuid
             * @description Profile to credit
             */
            profile_id: string;
            /** @description Why; for operators, never shown to customers */
            reason?: string;
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id?: string;
            /** @description The evidence outside: the bank's reference, the transaction hash, or the number of a case */
            reference?: string;
        };
        /** CryptoDestinationAddress */
        CryptoDestinationAddress: {
            /** @description Address on that network */
            address: string;
            /**
             * Format: date-time
             * @description When it was saved: the cooling-off time of policies begins here
             */
            created_at: string;
            /**
             * @description Crypto network
             * @enum {string}
             */
            crypto_network: "BITCOIN" | "ETHEREUM" | "BITCOIN_CASH" | "LITECOIN" | "SOLANA" | "POLYGON_POS" | "BASE" | "ARBITRUM_ONE" | "INK";
            /**
             * Format: uuid
             * @description Identifier
             */
            id: string;
            /** @description For people */
            label?: string;
        };
        /** CryptoDestinationAddressList */
        CryptoDestinationAddressList: {
            items: components["schemas"]["CryptoDestinationAddress"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** CryptoDestinationAddressRequest */
        CryptoDestinationAddressRequest: {
            /** @description Address on that network */
            address: string;
            /**
             * @description Crypto network
             * @enum {string}
             */
            crypto_network: "BITCOIN" | "ETHEREUM" | "BITCOIN_CASH" | "LITECOIN" | "SOLANA" | "POLYGON_POS" | "BASE" | "ARBITRUM_ONE" | "INK";
            /** @description For people */
            label?: string;
        };
        /** CryptoWithdrawalRequest */
        CryptoWithdrawalRequest: {
            /**
             * Format: uuid
             * @description Account of that identity
             */
            account_id?: string;
            /**
             * @description Amount excluding the fee; exactly one of amount and total
             * @example 25.5
             */
            amount?: string;
            /**
             * @description Asset to withdraw
             * @example USD
             */
            asset: string;
            /**
             * @description Asset to debit; only for the operator's stablecoin: that asset or USD
             * @example USD
             */
            balance_asset?: string;
            /** @description The recipient: person_details or institution_details. Stored, never returned. */
            beneficiary?: {
                institution_details?: {
                    name: string;
                };
                person_details?: {
                    first_name: string;
                    last_name: string;
                };
            };
            /**
             * @description Crypto network
             * @enum {string}
             */
            crypto_network: "BITCOIN" | "ETHEREUM" | "BITCOIN_CASH" | "LITECOIN" | "SOLANA" | "POLYGON_POS" | "BASE" | "ARBITRUM_ONE" | "INK";
            /** @description Destination address */
            destination_address: string;
            /**
             * Format: uuid
             * @description A guaranteed fee
             */
            fee_id?: string;
            /**
             * Format: uuid
             * @description Identity of the user making the withdrawal
             */
            identity_id?: string;
            /** @description At most 500 characters; over a bank less: wire 100, cubix 40, bank_network_2 100, bank_network_3 140 */
            memo?: string;
            /** @description Up to 6 string key–value pairs; each key and value has at most 100 characters. */
            metadata?: {
                [key: string]: string;
            };
            /**
             * Format: uuid
             * @description Profile to withdraw from
             */
            profile_id: string;
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id?: string;
            /**
             * @description Total including the fee; exactly one of amount and total
             * @example 25.5
             */
            total?: string;
        };
        /** DepositAddress */
        DepositAddress: {
            /**
             * Format: uuid
             * @description Account of that identity
             */
            account_id?: string;
            /** @description Address to send to; accepts every asset of the network */
            address: string;
            /**
             * Format: date-time
             * @description Creation time
             */
            created_at: string;
            /**
             * @description Crypto network
             * @enum {string}
             */
            crypto_network: "BITCOIN" | "ETHEREUM" | "BITCOIN_CASH" | "LITECOIN" | "SOLANA" | "POLYGON_POS" | "BASE" | "ARBITRUM_ONE" | "INK";
            /**
             * Format: uuid
             * @description Customer identifier
             */
            customer_id: string;
            /**
             * Format: uuid
             * @description Identifier
             */
            id: string;
            /**
             * Format: uuid
             * @description Identity of the user who deposits
             */
            identity_id?: string;
            /** @description Up to 6 string key–value pairs; each key and value has at most 100 characters. */
            metadata?: {
                [key: string]: string;
            };
            /**
             * Format: uuid
             * @description Profile to credit
             */
            profile_id: string;
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id?: string;
        };
        /** DepositAddressList */
        DepositAddressList: {
            items: components["schemas"]["DepositAddress"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** DepositAddressRequest */
        DepositAddressRequest: {
            /**
             * Format: uuid
             * @description Account of that identity
             */
            account_id?: string;
            /**
             * @description Crypto network
             * @enum {string}
             */
            crypto_network: "BITCOIN" | "ETHEREUM" | "BITCOIN_CASH" | "LITECOIN" | "SOLANA" | "POLYGON_POS" | "BASE" | "ARBITRUM_ONE" | "INK";
            /**
             * Format: uuid
             * @description Identity of the user who deposits
             */
            identity_id?: string;
            /** @description Up to 6 string key–value pairs; each key and value has at most 100 characters. */
            metadata?: {
                [key: string]: string;
            };
            /**
             * Format: uuid
             * @description Profile to credit
             */
            profile_id: string;
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id?: string;
        };
        /** EndedSessions */
        EndedSessions: {
            /** @description How many sessions have ended */
            ended: number;
            /**
             * Format: uuid
             * @description Identifier of the person
             */
            person_id: string;
        };
        /** EnrolmentLink */
        EnrolmentLink: {
            /**
             * Format: date-time
             * @description When the link expires
             */
            enrolment_expires_at: string;
            /** @description Send it to the person, who creates a passkey with it, once. It is not shown again */
            enrolment_url: string;
            /**
             * Format: uuid
             * @description Identifier of the person
             */
            person_id: string;
        };
        /** Entry */
        Entry: {
            /** @enum {string} */
            account: "available" | "held";
            /**
             * @description Amount
             * @example 25.5
             */
            amount: string;
            /**
             * @description Asset
             * @example USD
             */
            asset: string;
            /**
             * Format: date-time
             * @description Its instant: entries of a profile and asset are strictly ordered by it
             */
            at: string;
            /**
             * @description Balance of the account after it
             * @example 25.5
             */
            balance_after: string;
            cause: components["schemas"]["Cause"];
            /**
             * @description CREDIT adds to the balance
             * @enum {string}
             */
            direction: "CREDIT" | "DEBIT";
        };
        /** EntryList */
        EntryList: {
            items: components["schemas"]["Entry"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** Event */
        Event: {
            /**
             * Format: date-time
             * @description When it happened
             */
            created_at: string;
            /** @description The whole resource, as it was at that time */
            data: {
                [key: string]: unknown;
            };
            /**
             * Format: uuid
             * @description Identifier of the event, and the `webhook-id` of its deliveries
             */
            id: string;
            /**
             * Format: uuid
             * @description The resource that the event is about
             */
            resource_id: string;
            /**
             * @description The kind of resource, and what happened to it
             * @example transfer.wire_withdrawal.pending
             */
            type: string;
        };
        /** EventPage */
        EventPage: {
            /** @description Whether there are more events already. A page may be short or empty although there are more */
            has_more: boolean;
            items: components["schemas"]["Event"][];
            /** @description Where to continue. Always present, even if there are no items; never expires */
            next_page_cursor: string;
        };
        /** FiatAccount */
        FiatAccount: {
            /**
             * Format: uuid
             * @description Account owning the fiat account
             */
            account_id?: string;
            /**
             * Format: date-time
             * @description Creation time
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Only on a deleted account
             */
            deleted_at?: string;
            /** @description Exactly one of person_details and institution_details */
            fiat_account_owner?: {
                institution_details?: {
                    /** @description Name of the institution */
                    name: string;
                };
                person_details?: {
                    /** @description First name */
                    first_name: string;
                    /** @description Last name */
                    last_name: string;
                };
            };
            /** @description Exactly one kind */
            fiat_network_instructions: {
                bank_network_2?: {
                    /**
                     * @description Account number, masked to the last four characters
                     * @example ****6789
                     */
                    account_number: string;
                };
                bank_network_3?: {
                    /**
                     * @description Account number, masked to the last four characters
                     * @example ****6789
                     */
                    account_number: string;
                };
                cbit?: {
                    /**
                     * @description Wallet on the CBIT network, masked to the last four characters
                     * @example ****6789
                     */
                    wallet_address: string;
                };
                cubix?: {
                    /**
                     * @description Account on the first bank network, masked to the last four characters
                     * @example ****6789
                     */
                    account_id: string;
                };
                wire?: {
                    /**
                     * @description Account number, masked to the last four characters
                     * @example ****6789
                     */
                    account_number: string;
                    /** @description Address of the owner of the account */
                    fiat_account_owner_address: {
                        /** @description Street and number */
                        address1?: string;
                        /** @description More of the street address */
                        address2?: string;
                        /** @description City */
                        city?: string;
                        /** @description ISO 3166 code of two or three letters; anything else waits for an operator */
                        country: string;
                        /** @description State or province */
                        province?: string;
                        /** @description Postal code */
                        zip_code?: string;
                    };
                    /** @description The intermediary bank, if any */
                    intermediary_routing_details?: {
                        /** @description Address of the bank */
                        bank_address: {
                            /** @description Street and number */
                            address1?: string;
                            /** @description More of the street address */
                            address2?: string;
                            /** @description City */
                            city?: string;
                            /** @description ISO 3166 code of two or three letters; anything else waits for an operator */
                            country: string;
                            /** @description State or province */
                            province?: string;
                            /** @description Postal code */
                            zip_code?: string;
                        };
                        /** @description Name of the bank */
                        bank_name: string;
                        /** @description ABA: nine digits. SWIFT: a BIC of 8 or 11 characters (ISO 9362) */
                        routing_number: string;
                        /** @enum {string} */
                        routing_number_type: "ABA" | "SWIFT";
                    };
                    /** @description The bank that holds the account */
                    routing_details: {
                        /** @description Address of the bank */
                        bank_address: {
                            /** @description Street and number */
                            address1?: string;
                            /** @description More of the street address */
                            address2?: string;
                            /** @description City */
                            city?: string;
                            /** @description ISO 3166 code of two or three letters; anything else waits for an operator */
                            country: string;
                            /** @description State or province */
                            province?: string;
                            /** @description Postal code */
                            zip_code?: string;
                        };
                        /** @description Name of the bank */
                        bank_name: string;
                        /** @description ABA: nine digits. SWIFT: a BIC of 8 or 11 characters (ISO 9362) */
                        routing_number: string;
                        /** @enum {string} */
                        routing_number_type: "ABA" | "SWIFT";
                    };
                };
            };
            /**
             * Format: uuid
             * @description Fiat account identifier
             */
            id: string;
            /**
             * Format: uuid
             * @description Identity owning the fiat account
             */
            identity_id?: string;
            /** @description Up to 6 string key–value pairs; each key and value has at most 100 characters. */
            metadata?: {
                [key: string]: string;
            };
            /** @description Why it is REJECTED; absent in other states */
            reason?: string;
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id?: string;
            /** @enum {string} */
            status: "PENDING" | "APPROVED" | "REJECTED";
            /** @description Names and addresses that payments carry in other letters, because payment networks have only Latin ones without accents. Absent if there are none. */
            transliterations?: {
                /** @description The field, as a JSON pointer */
                pointer: string;
                /** @description Its text as payments carry it */
                sent_as: string;
            }[];
            /**
             * Format: date-time
             * @description Last update time
             */
            updated_at?: string;
        };
        /**
         * FiatAccountEvent
         * @description An event whose `data` is of the type FiatAccount
         */
        FiatAccountEvent: components["schemas"]["Event"] & {
            data?: components["schemas"]["FiatAccount"];
        };
        /** FiatAccountList */
        FiatAccountList: {
            items: components["schemas"]["FiatAccount"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** FiatAccountReviewQueue */
        FiatAccountReviewQueue: {
            items: components["schemas"]["FiatAccountUnderReview"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** FiatAccountUnderReview */
        FiatAccountUnderReview: {
            /**
             * Format: uuid
             * @description Account owning the fiat account
             */
            account_id?: string;
            /**
             * Format: date-time
             * @description Creation time
             */
            created_at: string;
            /**
             * Format: uuid
             * @description Customer identifier
             */
            customer_id: string;
            /**
             * Format: date-time
             * @description Only on a deleted account
             */
            deleted_at?: string;
            /** @description Exactly one of person_details and institution_details */
            fiat_account_owner?: {
                institution_details?: {
                    /** @description Name of the institution */
                    name: string;
                };
                person_details?: {
                    /** @description First name */
                    first_name: string;
                    /** @description Last name */
                    last_name: string;
                };
            };
            /** @description Exactly one kind */
            fiat_network_instructions: {
                bank_network_2?: {
                    /**
                     * @description Account number, masked to the last four characters
                     * @example ****6789
                     */
                    account_number: string;
                };
                bank_network_3?: {
                    /**
                     * @description Account number, masked to the last four characters
                     * @example ****6789
                     */
                    account_number: string;
                };
                cbit?: {
                    /**
                     * @description Wallet on the CBIT network, masked to the last four characters
                     * @example ****6789
                     */
                    wallet_address: string;
                };
                cubix?: {
                    /**
                     * @description Account on the first bank network, masked to the last four characters
                     * @example ****6789
                     */
                    account_id: string;
                };
                wire?: {
                    /**
                     * @description Account number, masked to the last four characters
                     * @example ****6789
                     */
                    account_number: string;
                    /** @description Address of the owner of the account */
                    fiat_account_owner_address: {
                        /** @description Street and number */
                        address1?: string;
                        /** @description More of the street address */
                        address2?: string;
                        /** @description City */
                        city?: string;
                        /** @description ISO 3166 code of two or three letters; anything else waits for an operator */
                        country: string;
                        /** @description State or province */
                        province?: string;
                        /** @description Postal code */
                        zip_code?: string;
                    };
                    /** @description The intermediary bank, if any */
                    intermediary_routing_details?: {
                        /** @description Address of the bank */
                        bank_address: {
                            /** @description Street and number */
                            address1?: string;
                            /** @description More of the street address */
                            address2?: string;
                            /** @description City */
                            city?: string;
                            /** @description ISO 3166 code of two or three letters; anything else waits for an operator */
                            country: string;
                            /** @description State or province */
                            province?: string;
                            /** @description Postal code */
                            zip_code?: string;
                        };
                        /** @description Name of the bank */
                        bank_name: string;
                        /** @description ABA: nine digits. SWIFT: a BIC of 8 or 11 characters (ISO 9362) */
                        routing_number: string;
                        /** @enum {string} */
                        routing_number_type: "ABA" | "SWIFT";
                    };
                    /** @description The bank that holds the account */
                    routing_details: {
                        /** @description Address of the bank */
                        bank_address: {
                            /** @description Street and number */
                            address1?: string;
                            /** @description More of the street address */
                            address2?: string;
                            /** @description City */
                            city?: string;
                            /** @description ISO 3166 code of two or three letters; anything else waits for an operator */
                            country: string;
                            /** @description State or province */
                            province?: string;
                            /** @description Postal code */
                            zip_code?: string;
                        };
                        /** @description Name of the bank */
                        bank_name: string;
                        /** @description ABA: nine digits. SWIFT: a BIC of 8 or 11 characters (ISO 9362) */
                        routing_number: string;
                        /** @enum {string} */
                        routing_number_type: "ABA" | "SWIFT";
                    };
                };
            };
            /** @description Findings of the automatic checks; empty when all of them pass */
            findings: {
                /** @description What is wrong, or has to be checked */
                reason: string;
                /** @enum {string} */
                verdict: "REJECT" | "ASK";
            }[];
            /**
             * Format: uuid
             * @description Fiat account identifier
             */
            id: string;
            /**
             * Format: uuid
             * @description Identity owning the fiat account
             */
            identity_id?: string;
            /** @description Up to 6 string key–value pairs; each key and value has at most 100 characters. */
            metadata?: {
                [key: string]: string;
            };
            /** @description Why it is REJECTED; absent in other states */
            reason?: string;
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id?: string;
            /** @enum {string} */
            status: "PENDING" | "APPROVED" | "REJECTED";
            /** @description Names and addresses that payments carry in other letters, because payment networks have only Latin ones without accents. Absent if there are none. */
            transliterations?: {
                /** @description The field, as a JSON pointer */
                pointer: string;
                /** @description Its text as payments carry it */
                sent_as: string;
            }[];
            /**
             * Format: date-time
             * @description Last update time
             */
            updated_at?: string;
        };
        /** FiatAccountView */
        FiatAccountView: {
            /**
             * Format: uuid
             * @description Account owning the fiat account
             */
            account_id?: string;
            /**
             * Format: date-time
             * @description Creation time
             */
            created_at: string;
            /**
             * Format: uuid
             * @description Customer identifier
             */
            customer_id: string;
            /**
             * Format: date-time
             * @description Only on a deleted account
             */
            deleted_at?: string;
            /** @description Identifies the version of the account that was shown: the `digest` of a view */
            digest: string;
            /** @description Exactly one of person_details and institution_details */
            fiat_account_owner?: {
                institution_details?: {
                    /** @description Name of the institution */
                    name: string;
                };
                person_details?: {
                    /** @description First name */
                    first_name: string;
                    /** @description Last name */
                    last_name: string;
                };
            };
            /** @description Exactly one kind */
            fiat_network_instructions: {
                bank_network_2?: {
                    /** @description Account number or IBAN, without blanks */
                    account_number: string;
                };
                bank_network_3?: {
                    /** @description Account number or IBAN, without blanks */
                    account_number: string;
                };
                cbit?: {
                    /** @description Wallet on the CBIT network */
                    wallet_address: string;
                };
                cubix?: {
                    /** @description Account on the first bank network */
                    account_id: string;
                };
                wire?: {
                    /** @description Account number or IBAN, without blanks */
                    account_number: string;
                    /** @description Address of the owner of the account */
                    fiat_account_owner_address: {
                        /** @description Street and number */
                        address1?: string;
                        /** @description More of the street address */
                        address2?: string;
                        /** @description City */
                        city?: string;
                        /** @description ISO 3166 code of two or three letters; anything else waits for an operator */
                        country: string;
                        /** @description State or province */
                        province?: string;
                        /** @description Postal code */
                        zip_code?: string;
                    };
                    /** @description The intermediary bank, if any */
                    intermediary_routing_details?: {
                        /** @description Address of the bank */
                        bank_address: {
                            /** @description Street and number */
                            address1?: string;
                            /** @description More of the street address */
                            address2?: string;
                            /** @description City */
                            city?: string;
                            /** @description ISO 3166 code of two or three letters; anything else waits for an operator */
                            country: string;
                            /** @description State or province */
                            province?: string;
                            /** @description Postal code */
                            zip_code?: string;
                        };
                        /** @description Name of the bank */
                        bank_name: string;
                        /** @description ABA: nine digits. SWIFT: a BIC of 8 or 11 characters (ISO 9362) */
                        routing_number: string;
                        /** @enum {string} */
                        routing_number_type: "ABA" | "SWIFT";
                    };
                    /** @description The bank that holds the account */
                    routing_details: {
                        /** @description Address of the bank */
                        bank_address: {
                            /** @description Street and number */
                            address1?: string;
                            /** @description More of the street address */
                            address2?: string;
                            /** @description City */
                            city?: string;
                            /** @description ISO 3166 code of two or three letters; anything else waits for an operator */
                            country: string;
                            /** @description State or province */
                            province?: string;
                            /** @description Postal code */
                            zip_code?: string;
                        };
                        /** @description Name of the bank */
                        bank_name: string;
                        /** @description ABA: nine digits. SWIFT: a BIC of 8 or 11 characters (ISO 9362) */
                        routing_number: string;
                        /** @enum {string} */
                        routing_number_type: "ABA" | "SWIFT";
                    };
                };
            };
            /** @description Findings of the automatic checks; empty when all of them pass */
            findings: {
                /** @description What is wrong, or has to be checked */
                reason: string;
                /** @enum {string} */
                verdict: "REJECT" | "ASK";
            }[];
            /**
             * Format: uuid
             * @description Fiat account identifier
             */
            id: string;
            /**
             * Format: uuid
             * @description Identity owning the fiat account
             */
            identity_id?: string;
            /** @description Up to 6 string key–value pairs; each key and value has at most 100 characters. */
            metadata?: {
                [key: string]: string;
            };
            /** @description Why it is REJECTED; absent in other states */
            reason?: string;
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id?: string;
            /** @enum {string} */
            status: "PENDING" | "APPROVED" | "REJECTED";
            /** @description Names and addresses that payments carry in other letters, because payment networks have only Latin ones without accents. Absent if there are none. */
            transliterations?: {
                /** @description The field, as a JSON pointer */
                pointer: string;
                /** @description Its text as payments carry it */
                sent_as: string;
            }[];
            /**
             * Format: date-time
             * @description Last update time
             */
            updated_at?: string;
        };
        /** FiatAccountViewList */
        FiatAccountViewList: {
            items: components["schemas"]["FiatAccountViewRecord"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** FiatAccountViewRecord */
        FiatAccountViewRecord: {
            /** @description Client of the reviewer */
            client_id: string;
            /**
             * Format: date-time
             * @description When the account was shown
             */
            created_at: string;
            /**
             * Format: uuid
             * @description Customer of the reviewer
             */
            customer_id: string;
            /** @description Identifies the version of the account that was shown: the `digest` of a view */
            digest: string;
            /**
             * Format: uuid
             * @description Identifier of the view
             */
            id: string;
        };
        /** FiatDepositInstructions */
        FiatDepositInstructions: {
            /**
             * Format: uuid
             * @description Account of that identity
             */
            account_id?: string;
            /**
             * Format: date-time
             * @description Creation time
             */
            created_at: string;
            /**
             * Format: uuid
             * @description Customer identifier
             */
            customer_id: string;
            /**
             * @description Bank or network that the money arrives over
             * @enum {string}
             */
            fiat_network: "WIRE" | "CUBIX" | "BANK_NETWORK_2" | "BANK_NETWORK_3" | "CBIT";
            /** @description Exactly one kind */
            fiat_network_instructions: {
                bank_network_2?: {
                    /** @description Account number or IBAN, without blanks */
                    account_number: string;
                };
                bank_network_3?: {
                    /** @description Account number or IBAN, without blanks */
                    account_number: string;
                };
                cbit?: {
                    /** @description Wallet on the CBIT network */
                    wallet_address: string;
                };
                cubix?: {
                    /** @description Account on the first bank network */
                    account_id: string;
                };
                wire?: {
                    /** @description Account number or IBAN, without blanks */
                    account_number: string;
                    /** @description Address of the owner of the account */
                    fiat_account_owner_address: {
                        /** @description Street and number */
                        address1?: string;
                        /** @description More of the street address */
                        address2?: string;
                        /** @description City */
                        city?: string;
                        /** @description ISO 3166 code of two or three letters; anything else waits for an operator */
                        country: string;
                        /** @description State or province */
                        province?: string;
                        /** @description Postal code */
                        zip_code?: string;
                    };
                    /** @description The intermediary bank, if any */
                    intermediary_routing_details?: {
                        /** @description Address of the bank */
                        bank_address: {
                            /** @description Street and number */
                            address1?: string;
                            /** @description More of the street address */
                            address2?: string;
                            /** @description City */
                            city?: string;
                            /** @description ISO 3166 code of two or three letters; anything else waits for an operator */
                            country: string;
                            /** @description State or province */
                            province?: string;
                            /** @description Postal code */
                            zip_code?: string;
                        };
                        /** @description Name of the bank */
                        bank_name: string;
                        /** @description ABA: nine digits. SWIFT: a BIC of 8 or 11 characters (ISO 9362) */
                        routing_number: string;
                        /** @enum {string} */
                        routing_number_type: "ABA" | "SWIFT";
                    };
                    /** @description The bank that holds the account */
                    routing_details: {
                        /** @description Address of the bank */
                        bank_address: {
                            /** @description Street and number */
                            address1?: string;
                            /** @description More of the street address */
                            address2?: string;
                            /** @description City */
                            city?: string;
                            /** @description ISO 3166 code of two or three letters; anything else waits for an operator */
                            country: string;
                            /** @description State or province */
                            province?: string;
                            /** @description Postal code */
                            zip_code?: string;
                        };
                        /** @description Name of the bank */
                        bank_name: string;
                        /** @description ABA: nine digits. SWIFT: a BIC of 8 or 11 characters (ISO 9362) */
                        routing_number: string;
                        /** @enum {string} */
                        routing_number_type: "ABA" | "SWIFT";
                    };
                };
            };
            /**
             * Format: uuid
             * @description Identifier
             */
            id: string;
            /**
             * Format: uuid
             * @description Identity of the user who deposits
             */
            identity_id?: string;
            /** @description Has to be in the memo of the payment: it identifies the profile */
            memo_id: string;
            /** @description Up to 6 string key–value pairs; each key and value has at most 100 characters. */
            metadata?: {
                [key: string]: string;
            };
            /**
             * Format: uuid
             * @description Profile to credit
             */
            profile_id: string;
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id?: string;
        };
        /** FiatDepositInstructionsList */
        FiatDepositInstructionsList: {
            items: components["schemas"]["FiatDepositInstructions"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** FiatDepositInstructionsRequest */
        FiatDepositInstructionsRequest: {
            /**
             * Format: uuid
             * @description Account of that identity
             */
            account_id?: string;
            /**
             * @description Bank or network that the money arrives over
             * @enum {string}
             */
            fiat_network: "WIRE" | "CUBIX" | "BANK_NETWORK_2" | "BANK_NETWORK_3" | "CBIT";
            /**
             * Format: uuid
             * @description Identity of the user who deposits
             */
            identity_id?: string;
            /** @description Up to 6 string key–value pairs; each key and value has at most 100 characters. */
            metadata?: {
                [key: string]: string;
            };
            /**
             * Format: uuid
             * @description Profile to credit
             */
            profile_id: string;
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id?: string;
        };
        /** FiatWithdrawalRequest */
        FiatWithdrawalRequest: {
            /**
             * Format: uuid
             * @description Account of that identity; required for third-party integrations
             */
            account_id?: string;
            /**
             * @description Amount excluding the fee; exactly one of amount and total
             * @example 25.5
             */
            amount?: string;
            /**
             * @description Only USD
             * @example USD
             */
            asset: string;
            /**
             * Format: uuid
             * @description Destination fiat account
             */
            fiat_account_id: string;
            /**
             * Format: uuid
             * @description Identity of the user; required for third-party integrations
             */
            identity_id?: string;
            /** @description At most 500 characters; over a bank less: wire 100, cubix 40, bank_network_2 100, bank_network_3 140 */
            memo?: string;
            /** @description Up to 6 string key–value pairs; each key and value has at most 100 characters. */
            metadata?: {
                [key: string]: string;
            };
            /**
             * Format: uuid
             * @description Profile to withdraw from
             */
            profile_id: string;
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id?: string;
            /**
             * @description Total including the fee; exactly one of amount and total
             * @example 25.5
             */
            total?: string;
        };
        /** Freeze */
        Freeze: {
            /**
             * Format: date-time
             * @description When it was frozen
             */
            created_at: string;
            /** @description Who: `client:<id>`, `person:<id>` or `cli:<user>` */
            frozen_by: string;
            /**
             * Format: uuid
             * @description Identifier of the freeze
             */
            id: string;
            /**
             * Format: date-time
             * @description When it was lifted
             */
            lifted_at?: string;
            /** @description Why it was lifted */
            lifted_because?: string;
            /** @description Who has lifted it */
            lifted_by?: string;
            /** @description Why */
            reason: string;
            /** @enum {string} */
            scope: "PLATFORM" | "CUSTOMER" | "IDENTITY" | "PROFILE";
            /** @enum {string} */
            status: "IN_FORCE" | "LIFTED";
            /**
             * Format: uuid
             * @description The customer, identity or profile; absent for the platform
             */
            subject_id?: string;
        };
        /** FreezeList */
        FreezeList: {
            items: components["schemas"]["Freeze"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** FreezeRequest */
        FreezeRequest: {
            /** @description Why, for operators only */
            reason: string;
            /**
             * @description What is frozen
             * @enum {string}
             */
            scope: "PLATFORM" | "CUSTOMER" | "IDENTITY" | "PROFILE";
            /**
             * Format: uuid
             * @description The customer, identity or profile; absent for the platform
             */
            subject_id?: string;
        };
        /** FrozenNow */
        FrozenNow: {
            /**
             * Format: date-time
             * @description When it was frozen
             */
            created_at: string;
            /** @description Who: `client:<id>`, `person:<id>` or `cli:<user>` */
            frozen_by: string;
            /**
             * Format: uuid
             * @description Identifier of the freeze
             */
            id: string;
            /** @description Every transaction that began before the freeze has ended. If false, one is still running and may not see the freeze. */
            in_force: boolean;
            /**
             * Format: date-time
             * @description When it was lifted
             */
            lifted_at?: string;
            /** @description Why it was lifted */
            lifted_because?: string;
            /** @description Who has lifted it */
            lifted_by?: string;
            /** @description Why */
            reason: string;
            /** @enum {string} */
            scope: "PLATFORM" | "CUSTOMER" | "IDENTITY" | "PROFILE";
            /** @enum {string} */
            status: "IN_FORCE" | "LIFTED";
            /**
             * Format: uuid
             * @description The customer, identity or profile; absent for the platform
             */
            subject_id?: string;
            /** @description Payments that were being handed to a rail before the freeze and still are. 0: nothing more is submitted. */
            submissions_under_way: number;
        };
        /** GuaranteedFee */
        GuaranteedFee: {
            /**
             * @description Largest amount that the fee is valid for
             * @example 25.5
             */
            amount: string;
            /**
             * @description Asset to withdraw
             * @example USD
             */
            asset: string;
            /**
             * @description Crypto network
             * @enum {string}
             */
            crypto_network: "BITCOIN" | "ETHEREUM" | "BITCOIN_CASH" | "LITECOIN" | "SOLANA" | "POLYGON_POS" | "BASE" | "ARBITRUM_ONE" | "INK";
            /** @description Destination address */
            destination_address: string;
            /**
             * Format: date-time
             * @description The fee is valid until this time
             */
            expires_at: string;
            /**
             * @description The guaranteed fee, in the asset
             * @example 25.5
             */
            fee: string;
            /**
             * Format: uuid
             * @description Identifier, to be sent as fee_id
             */
            id: string;
            /**
             * @description amount and fee together
             * @example 25.5
             */
            total: string;
        };
        /** GuaranteedFeeRequest */
        GuaranteedFeeRequest: {
            /**
             * @description Amount to withdraw; exactly one of amount and total
             * @example 25.5
             */
            amount?: string;
            /**
             * @description Asset to withdraw
             * @example USD
             */
            asset: string;
            /**
             * @description Crypto network
             * @enum {string}
             */
            crypto_network: "BITCOIN" | "ETHEREUM" | "BITCOIN_CASH" | "LITECOIN" | "SOLANA" | "POLYGON_POS" | "BASE" | "ARBITRUM_ONE" | "INK";
            /** @description Destination address */
            destination_address: string;
            /**
             * @description Total to withdraw, including the fee; exactly one of amount and total
             * @example 25.5
             */
            total?: string;
        };
        /** HeldWithdrawalRequest */
        HeldWithdrawalRequest: {
            /** @description Why. The customer is not shown it. */
            reason: string;
        };
        /** Identity */
        Identity: {
            /**
             * Format: date-time
             * @description Record creation time
             */
            created_at: string;
            /**
             * Format: uuid
             * @description Identity identifier
             */
            id: string;
            /** @description Of an institution */
            institution_details?: {
                /** @description Name */
                name: string;
            };
            /** @description Up to 6 string key–value pairs; each key and value has at most 100 characters. */
            metadata?: {
                [key: string]: string;
            };
            /** @description Of a person */
            person_details?: {
                /** @description First name */
                first_name: string;
                /** @description Last name */
                last_name: string;
            };
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id?: string;
            /** @enum {string} */
            status: "APPROVED" | "DISABLED";
            /** @enum {string} */
            type: "PERSON" | "INSTITUTION";
            /**
             * Format: date-time
             * @description Last update time
             */
            updated_at: string;
        };
        /** IdentityList */
        IdentityList: {
            items: components["schemas"]["Identity"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** ImportedStatement */
        ImportedStatement: {
            /** @description Account */
            account: string;
            /** @description The client that imported it */
            actor: string;
            /**
             * @description Asset
             * @example USD
             */
            asset: string;
            /**
             * @description The closing balance of a camt.053, less that of the ledger at that time; negative if it is owed
             * @example 12.5
             * @example -0.01
             */
            closing_difference?: string;
            /** @enum {string} */
            format: "CAMT053" | "CSV";
            /**
             * Format: uuid
             * @description Identifier
             */
            id: string;
            /** @description Booked lines */
            line_count: number;
            /** @description The bank's id */
            statement_id: string;
        };
        /** ImportStatementRequest */
        ImportStatementRequest: {
            /**
             * @description `treasury` or `clearing:<rail>`
             * @example clearing:wire
             */
            account: string;
            /** @description The file. CSV has the columns at, asset, direction, amount and reference */
            content: string;
            /** @enum {string} */
            format: "CAMT053" | "CSV";
            /** @description The bank's id of the statement; of a camt.053 its own */
            statement_id?: string;
        };
        /** Incoming */
        Incoming: {
            /**
             * @description Who may pay the profile and propose settlements to it: every customer, or only the listed profiles. To anybody else the profile does not exist
             * @enum {string}
             */
            accepts_from: "ANYONE" | "LISTED";
            /** @description Profiles of other customers; your own profiles are always accepted */
            profile_ids?: string[];
        };
        /** IncomingRequest */
        IncomingRequest: {
            /**
             * @description Who may pay the profile and propose settlements to it: every customer, or only the listed profiles. To anybody else the profile does not exist
             * @enum {string}
             */
            accepts_from: "ANYONE" | "LISTED";
            /** @description Profiles of other customers; your own profiles are always accepted */
            profile_ids?: string[];
        };
        /** JournalEntry */
        JournalEntry: {
            /** @description The operator's own account, or an address */
            account?: string;
            /** @description The client that booked it */
            actor: string;
            /**
             * @description Amount; absent while the asset is not configured
             * @example 25.5
             */
            amount?: string;
            /** @description Only while the asset is not configured */
            amount_units?: string;
            /** @description Asset */
            asset?: string;
            /** @description What the entry corrects */
            corrects?: {
                /**
                 * Format: uuid
                 * @description Transfer (withdrawal, deposit, or either side), settlement transaction or journal entry
                 */
                id: string;
                /**
                 * Format: uuid
                 * @description Only this leg of a settlement transaction
                 */
                leg_id?: string;
                /** @enum {string} */
                type: "TRANSFER" | "SETTLEMENT" | "JOURNAL_ENTRY";
            };
            /**
             * Format: date-time
             * @description When it was booked
             */
            created_at: string;
            /**
             * Format: uuid
             * @description Identifier
             */
            id: string;
            /** @enum {string} */
            kind: "OPENING_BALANCE" | "MANUAL_DEPOSIT" | "TREASURY_FUNDING" | "TREASURY_PAYOUT" | "SWEEP" | "WRITE_OFF" | "SUSPENSE_CREDIT" | "SUSPENSE_RETURN" | "WITHDRAWAL_RETURN" | "CORRECTION" | "REVERSAL" | "WITHDRAWAL_RESOLUTION" | "WITHDRAWAL_CANCELLATION";
            /** @description What the customers concerned are shown */
            note?: string;
            /** @enum {string} */
            outcome?: "PAID" | "NOT_PAID";
            /** @description Number of the output */
            output?: number;
            /** @description What it moved itself; empty if a transfer moved the value */
            postings: {
                /**
                 * @description Amount; absent while the asset is not configured
                 * @example 25.5
                 */
                amount?: string;
                /** @description Only while the asset is not configured */
                amount_units?: string;
                /** @description Asset */
                asset: string;
                from: {
                    /** @description Account of the service */
                    account?: string;
                    /**
                     * Format: uuid
                     * @description Profile
                     */
                    profile_id?: string;
                };
                to: {
                    /** @description Account of the service */
                    account?: string;
                    /**
                     * Format: uuid
                     * @description Profile
                     */
                    profile_id?: string;
                };
            }[];
            /** @description Profiles whose balances changed */
            profile_ids: string[];
            /** @description Rail */
            rail?: string;
            /** @description Why */
            reason: string;
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id: string;
            /** @description The evidence outside */
            reference: string;
            /**
             * Format: uuid
             * @description The journal entry that reversed it
             */
            reversed_by?: string;
            /**
             * Format: uuid
             * @description The suspense deposit that it credited, returned or created
             */
            suspense_deposit_id?: string;
            /**
             * Format: uuid
             * @description The transfer that it created or ended
             */
            transfer_id?: string;
        };
        /** JournalEntryList */
        JournalEntryList: {
            items: components["schemas"]["JournalEntry"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** JournalEntryRequest */
        JournalEntryRequest: {
            /** @description The operator's own account at the bank, or the address on the chain */
            account?: string;
            /**
             * @description Amount
             * @example 25.5
             */
            amount?: string;
            /**
             * @description Asset
             * @example USD
             */
            asset?: string;
            /** @description What the entry corrects */
            corrects?: {
                /**
                 * Format: uuid
                 * @description Transfer (withdrawal, deposit, or either side), settlement transaction or journal entry
                 */
                id: string;
                /**
                 * Format: uuid
                 * @description Only this leg of a settlement transaction
                 */
                leg_id?: string;
                /** @enum {string} */
                type: "TRANSFER" | "SETTLEMENT" | "JOURNAL_ENTRY";
            };
            /** @description Where the value comes from: exactly one of profile_id and account */
            from?: {
                /**
                 * @description Account of the service
                 * @enum {string}
                 */
                account?: "fees" | "conversion" | "treasury" | "clearing:wire" | "clearing:cubix" | "clearing:bank_network_2" | "clearing:bank_network_3" | "clearing:cbit" | "clearing:bitcoin" | "clearing:ethereum" | "clearing:bitcoin_cash" | "clearing:litecoin" | "clearing:solana" | "clearing:polygon_pos" | "clearing:base" | "clearing:arbitrum_one" | "clearing:ink";
                /**
                 * Format: uuid
                 * @description Profile, of any customer
                 */
                profile_id?: string;
            };
            /** @enum {string} */
            kind: "OPENING_BALANCE" | "MANUAL_DEPOSIT" | "TREASURY_FUNDING" | "TREASURY_PAYOUT" | "SWEEP" | "WRITE_OFF" | "SUSPENSE_CREDIT" | "SUSPENSE_RETURN" | "WITHDRAWAL_RETURN" | "CORRECTION" | "REVERSAL";
            /** @description Shown to the customers concerned, in their events */
            note?: string;
            /** @description On a chain: the number of the output, log or instruction; absent: all of the asset that the transaction paid to the account */
            output?: number;
            /**
             * Format: uuid
             * @description Profile, of any customer
             */
            profile_id?: string;
            /**
             * @description Rail
             * @enum {string}
             */
            rail?: "wire" | "cubix" | "bank_network_2" | "bank_network_3" | "cbit" | "BITCOIN" | "ETHEREUM" | "BITCOIN_CASH" | "LITECOIN" | "SOLANA" | "POLYGON_POS" | "BASE" | "ARBITRUM_ONE" | "INK";
            /** @description Why; for operators, never shown to customers */
            reason: string;
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id: string;
            /** @description The evidence outside: the bank's reference, the transaction hash, or the number of a case */
            reference: string;
            /** @enum {string} */
            source?: "fees" | "conversion";
            /**
             * Format: uuid
             * @description Suspense deposit
             */
            suspense_deposit_id?: string;
            /** @description Where the value goes: exactly one of profile_id and account */
            to?: {
                /**
                 * @description Account of the service
                 * @enum {string}
                 */
                account?: "fees" | "conversion" | "treasury" | "clearing:wire" | "clearing:cubix" | "clearing:bank_network_2" | "clearing:bank_network_3" | "clearing:cbit" | "clearing:bitcoin" | "clearing:ethereum" | "clearing:bitcoin_cash" | "clearing:litecoin" | "clearing:solana" | "clearing:polygon_pos" | "clearing:base" | "clearing:arbitrum_one" | "clearing:ink";
                /**
                 * Format: uuid
                 * @description Profile, of any customer
                 */
                profile_id?: string;
            };
            /**
             * Format: uuid
             * @description Withdrawal
             */
            transfer_id?: string;
        };
        /** LiftFreezeRequest */
        LiftFreezeRequest: {
            /** @description Why it is lifted, for operators only */
            reason: string;
        };
        /** LimitUtilization */
        LimitUtilization: {
            /**
             * @description Asset
             * @example USD
             */
            asset: string;
            /**
             * @description What is left now
             * @example 25.5
             */
            available: string;
            /**
             * @description The limit
             * @example 25.5
             */
            max: string;
            /** @enum {string} */
            per: "PROFILE" | "CUSTOMER";
            /** @description Name of the policy */
            policy: string;
            /** @description Only on these rails */
            rails?: string[];
            /** @description Name of the rule */
            rule: string;
            /**
             * @description What withdrawals of the window have used
             * @example 25.5
             */
            used: string;
            /** @enum {string} */
            window: "HOUR" | "DAY" | "WEEK";
        };
        /** LimitUtilizationList */
        LimitUtilizationList: {
            items: components["schemas"]["LimitUtilization"][];
        };
        /** ListedDestination */
        ListedDestination: {
            /** @description Who has listed it */
            added_by: string;
            /**
             * Format: date-time
             * @description When it was listed: the cooling-off time begins here
             */
            created_at: string;
            /** @description Network and address, or `fiat_account/` and its id */
            destination: string;
            /**
             * Format: uuid
             * @description Identifier
             */
            id: string;
            label?: string;
        };
        /** ListedDestinationList */
        ListedDestinationList: {
            items: components["schemas"]["ListedDestination"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** ListedDestinationRequest */
        ListedDestinationRequest: {
            /** @description Network and address (`BITCOIN/bc1q…`), or `fiat_account/` and its id */
            destination: string;
            /** @description For people */
            label?: string;
        };
        /** Match */
        Match: {
            /** @description Account */
            account: string;
            /** @description The client; absent if it was matched automatically */
            actor?: string;
            /**
             * Format: date-time
             * @description When
             */
            created_at: string;
            /**
             * Format: uuid
             * @description Identifier
             */
            id: string;
            /** @description Why */
            reason?: string;
            /**
             * Format: date-time
             * @description When
             */
            removed_at?: string;
            /** @description Why */
            removed_because?: string;
            /** @description The client that removed it */
            removed_by?: string;
        };
        /** MatchRequest */
        MatchRequest: {
            item_ids: string[];
            /** @description Why; for operators only */
            reason: string;
        };
        /** Me */
        Me: {
            /**
             * Format: uuid
             * @description The customer of the person; absent for people of the operator
             */
            customer_id?: string;
            /** @description Unique among your active people. Finds the person at the first sign-in with an OpenID provider */
            email?: string;
            /** @description Of the client or the person */
            id: string;
            /** @enum {string} */
            kind: "CLIENT" | "PERSON";
            /** @description For people */
            name?: string;
            /** @description VIEWER reads, MAKER requests, APPROVER approves, ADMINISTRATOR manages people and webhooks */
            roles?: ("VIEWER" | "MAKER" | "APPROVER" | "ADMINISTRATOR")[];
            /** @description What the caller may do */
            scopes: string[];
            session?: {
                /**
                 * Format: date-time
                 * @description When the person last proved who they are: the sign-in or a step-up
                 */
                authenticated_at: string;
                /**
                 * Format: date-time
                 * @description Sign-in
                 */
                created_at: string;
                /**
                 * Format: date-time
                 * @description When the person has to sign in again; earlier if the session is not used
                 */
                expires_at: string;
                /**
                 * Format: uuid
                 * @description Identifier
                 */
                id: string;
                /**
                 * @description How the person signed in
                 * @enum {string}
                 */
                method: "PASSKEY" | "OPENID" | "DEMO";
            };
        };
        /** Movement */
        Movement: {
            /**
             * @description Amount
             * @example 25.5
             */
            amount: string;
            /**
             * Format: date-time
             * @description When
             */
            at: string;
            /**
             * @description The total after it
             * @example 25.5
             */
            balance_after: string;
            cause: components["schemas"]["Cause"];
            /**
             * @description CREDIT adds to the balance
             * @enum {string}
             */
            direction: "CREDIT" | "DEBIT";
        };
        /** OAuthClient */
        OAuthClient: {
            allowed_addresses?: string[];
            /** @description Identifier */
            client_id: string;
            /**
             * Format: date-time
             * @description Creation time
             */
            created_at: string;
            /**
             * Format: uuid
             * @description The customer of the client
             */
            customer_id: string;
            /**
             * Format: date-time
             * @description Since when it is disabled; absent: it is not
             */
            disabled_at?: string;
            /** @description A label */
            name: string;
            /**
             * Format: uuid
             * @description The person who owns it
             */
            owner_person_id?: string;
            scopes: string[];
        };
        /** OpenWithdrawal */
        OpenWithdrawal: {
            /**
             * @description Amount to be paid
             * @example 25.5
             */
            amount: string;
            /**
             * @description Asset
             * @example USD
             */
            asset: string;
            /** @description Requests that were made to the rail */
            attempts: number;
            /**
             * Format: date-time
             * @description When the withdrawal was requested
             */
            created_at: string;
            /**
             * Format: uuid
             * @description Customer identifier
             */
            customer_id: string;
            /** @description The same in words */
            detail?: string;
            /** @description Consecutive calls of the rail that failed */
            failures: number;
            /**
             * Format: uuid
             * @description Profile whose balance is held
             */
            profile_id: string;
            /** @description The rail that pays it */
            rail: string;
            /**
             * @description UNKNOWN: it is not known whether the rail has the payment
             * @enum {string}
             */
            state: "QUEUED" | "SUBMITTING" | "SUBMITTED" | "UNKNOWN";
            /**
             * Format: date-time
             * @description When the last request was made
             */
            submitted_at?: string;
            /**
             * Format: uuid
             * @description The withdrawal
             */
            transfer_id: string;
            /**
             * @description What it waits for: the `name` of its `secondary_status`
             * @example AWAITING_APPROVAL
             */
            waits_for?: string;
        };
        /** OpenWithdrawalList */
        OpenWithdrawalList: {
            items: components["schemas"]["OpenWithdrawal"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** Person */
        Person: {
            /**
             * Format: date-time
             * @description Creation time
             */
            created_at: string;
            /**
             * Format: uuid
             * @description The customer of the person; absent for people of the operator
             */
            customer_id?: string;
            /** @description Unique among your active people. Finds the person at the first sign-in with an OpenID provider */
            email: string;
            /**
             * Format: uuid
             * @description Identifier
             */
            id: string;
            /** @description For people */
            name: string;
            /** @description Passkeys that the person can sign in with */
            passkeys: number;
            /** @description VIEWER reads, MAKER requests, APPROVER approves, ADMINISTRATOR manages people and webhooks */
            roles: ("VIEWER" | "MAKER" | "APPROVER" | "ADMINISTRATOR")[];
            /** @enum {string} */
            status: "ACTIVE" | "DISABLED";
            /**
             * Format: date-time
             * @description Last change of name, roles or status
             */
            updated_at: string;
        };
        /** PersonList */
        PersonList: {
            items: components["schemas"]["Person"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** PlatformTransferRequest */
        PlatformTransferRequest: {
            /**
             * @description Amount to transfer
             * @example 25.5
             */
            amount: string;
            /**
             * @description Asset to transfer
             * @example USD
             */
            asset: string;
            /**
             * Format: uuid
             * @description Account of the sending user; required for third-party integrations
             */
            from_account_id?: string;
            /**
             * Format: uuid
             * @description Identity of the sending user
             */
            from_identity_id?: string;
            /**
             * Format: uuid
             * @description Sending profile
             */
            from_profile_id: string;
            /** @description Up to 6 string key–value pairs; each key and value has at most 100 characters. */
            metadata?: {
                [key: string]: string;
            };
            /** @description Up to 6 string key–value pairs; each key and value has at most 100 characters. */
            recipient_metadata?: {
                [key: string]: string;
            };
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id?: string;
            /**
             * Format: uuid
             * @description Account of the destination user; required for third-party integrations
             */
            to_account_id?: string;
            /**
             * Format: uuid
             * @description Identity of the destination user
             */
            to_identity_id?: string;
            /**
             * Format: uuid
             * @description Destination profile
             */
            to_profile_id: string;
        };
        /** Policy */
        Policy: {
            applies_to?: components["schemas"]["PolicyScope"];
            /** @description Who made this version: `client:<id>` */
            changed_by: string;
            /**
             * Format: date-time
             * @description When the policy was created
             */
            created_at: string;
            /**
             * Format: uuid
             * @description The customer that it belongs to; absent: the operator
             */
            customer_id?: string;
            /** @description Whether it is in force */
            enabled: boolean;
            /**
             * Format: uuid
             * @description Identifier of the policy
             */
            id: string;
            /** @description Its name */
            name: string;
            /** @description Why */
            reason: string;
            rules: components["schemas"]["PolicyRule"][];
            /**
             * Format: date-time
             * @description When this version was created
             */
            updated_at: string;
            /** @description Incremented by every change */
            version: number;
        };
        /** PolicyDryRun */
        PolicyDryRun: {
            /** @description False: there were more withdrawals, and only the latest were examined */
            complete: boolean;
            /** @description Withdrawals of the last 30 days that the policy applies to */
            examined: number;
            /**
             * Format: date-time
             * @description The first withdrawal that was examined was not requested before
             */
            from: string;
            held: number;
            passed: number;
            refused: number;
            /** @description Those that would not have passed, newest first, at most 100 */
            withdrawals: components["schemas"]["PolicyDryRunItem"][];
        };
        /** PolicyDryRunItem */
        PolicyDryRunItem: {
            /**
             * Format: date-time
             * @description When it was requested
             */
            created_at: string;
            /** @description In words */
            detail: string;
            /** @enum {string} */
            outcome: "HELD" | "REFUSED";
            /** @description The rule that would have held or refused it */
            rule: string;
            /**
             * Format: uuid
             * @description The withdrawal
             */
            transfer_id: string;
        };
        /** PolicyDryRunRequest */
        PolicyDryRunRequest: {
            applies_to?: components["schemas"]["PolicyScopeRequest"];
            rules: components["schemas"]["PolicyRuleRequest"][];
        };
        /** PolicyList */
        PolicyList: {
            items: components["schemas"]["Policy"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** PolicyRequest */
        PolicyRequest: {
            applies_to?: components["schemas"]["PolicyScopeRequest"];
            /** @description The version that you have seen, 0 for a new policy: if there is another one, the change is refused. A request that waits for approval always has one. */
            based_on_version?: number;
            /** @description Whether it is in force */
            enabled: boolean;
            /** @description Its name, unique for its owner. An existing policy of that name gets a new version. */
            name: string;
            /** @description Why it is changed */
            reason: string;
            rules: components["schemas"]["PolicyRuleRequest"][];
        };
        /** PolicyRule */
        PolicyRule: {
            /**
             * @description A withdrawal of a larger amount is held until it is approved; 0 for every one
             * @example 25.5
             */
            above?: string;
            /**
             * @description Asset of the limit or threshold
             * @example USD
             */
            asset?: string;
            /** @description Withdrawals to a destination are held until this long after it was listed or, if any may be used, first used */
            cooling_off_hours?: number;
            /** @description Days, by that time zone */
            days?: ("SUN" | "MON" | "TUE" | "WED" | "THU" | "FRI" | "SAT")[];
            /**
             * @description First minute, by that time zone
             * @example 09:00
             */
            from?: string;
            /** @description The screening hook, as the configuration file names it */
            hook?: string;
            /** @description A destination that is not listed is refused */
            listed_only?: boolean;
            /**
             * @description The largest amount of a withdrawal, or of all withdrawals of the window, without fees. More is refused.
             * @example 25.5
             */
            max?: string;
            /** @description Its name, unique within the policy: refusals and holds show it */
            name: string;
            /**
             * @description Whose withdrawals are added up, without those that FAILED. ALL: those of all customers, for the operator.
             * @enum {string}
             */
            per?: "PROFILE" | "CUSTOMER" | "ALL";
            /**
             * @description IANA name
             * @example America/New_York
             */
            time_zone?: string;
            /**
             * @description The minute at which it ends; 24:00 for midnight
             * @example 09:00
             */
            to?: string;
            /**
             * @description `amount_limit`: asset, max. `velocity`: asset, max, window, per. `destinations`: listed_only, cooling_off_hours. `business_hours`: time_zone, days, from, to. `approval`: asset, above. `screening`: hook.
             * @enum {string}
             */
            type: "amount_limit" | "velocity" | "destinations" | "business_hours" | "approval" | "screening";
            /**
             * @description The last 60 minutes, 24 hours or 7 days
             * @enum {string}
             */
            window?: "HOUR" | "DAY" | "WEEK";
        };
        /** PolicyRuleRequest */
        PolicyRuleRequest: {
            /**
             * @description A withdrawal of a larger amount is held until it is approved; 0 for every one
             * @example 25.5
             */
            above?: string;
            /**
             * @description Asset of the limit or threshold
             * @example USD
             */
            asset?: string;
            /** @description Withdrawals to a destination are held until this long after it was listed or, if any may be used, first used */
            cooling_off_hours?: number;
            /** @description Days, by that time zone */
            days?: ("SUN" | "MON" | "TUE" | "WED" | "THU" | "FRI" | "SAT")[];
            /**
             * @description First minute, by that time zone
             * @example 09:00
             */
            from?: string;
            /** @description The screening hook, as the configuration file names it */
            hook?: string;
            /** @description A destination that is not listed is refused */
            listed_only?: boolean;
            /**
             * @description The largest amount of a withdrawal, or of all withdrawals of the window, without fees. More is refused.
             * @example 25.5
             */
            max?: string;
            /** @description Its name, unique within the policy: refusals and holds show it */
            name: string;
            /**
             * @description Whose withdrawals are added up, without those that FAILED. ALL: those of all customers, for the operator.
             * @enum {string}
             */
            per?: "PROFILE" | "CUSTOMER" | "ALL";
            /**
             * @description IANA name
             * @example America/New_York
             */
            time_zone?: string;
            /**
             * @description The minute at which it ends; 24:00 for midnight
             * @example 09:00
             */
            to?: string;
            /**
             * @description `amount_limit`: asset, max. `velocity`: asset, max, window, per. `destinations`: listed_only, cooling_off_hours. `business_hours`: time_zone, days, from, to. `approval`: asset, above. `screening`: hook.
             * @enum {string}
             */
            type: "amount_limit" | "velocity" | "destinations" | "business_hours" | "approval" | "screening";
            /**
             * @description The last 60 minutes, 24 hours or 7 days
             * @enum {string}
             */
            window?: "HOUR" | "DAY" | "WEEK";
        };
        /**
         * PolicyScope
         * @description Which withdrawals it is about; absent: all
         */
        PolicyScope: {
            /** @description Only these assets */
            assets?: string[];
            /** @description Only these customers; in policies of the operator */
            customer_ids?: string[];
            /** @description Only these profiles */
            profile_ids?: string[];
            /** @description Only these rails: kinds of fiat accounts and crypto networks */
            rails?: string[];
        };
        /**
         * PolicyScopeRequest
         * @description Which withdrawals it is about; absent: all
         */
        PolicyScopeRequest: {
            /** @description Only these assets */
            assets?: string[];
            /** @description Only these customers; in policies of the operator */
            customer_ids?: string[];
            /** @description Only these profiles */
            profile_ids?: string[];
            /** @description Only these rails: kinds of fiat accounts and crypto networks */
            rails?: string[];
        };
        /** PolicyVersionList */
        PolicyVersionList: {
            /** @description All versions, newest first */
            items: components["schemas"]["Policy"][];
        };
        /** Position */
        Position: {
            /**
             * @description Amount that can be spent
             * @example 25.5
             */
            available: string;
            /**
             * @description Amount that is reserved by pending withdrawals
             * @example 25.5
             */
            held: string;
            /**
             * @description What the profile owns: available and held
             * @example 25.5
             */
            total: string;
        };
        /**
         * Problem
         * @description A problem (RFC 9457). The `type` of each problem is the URL of a page about it.
         */
        Problem: {
            /** @description What is wrong, with the values, for people */
            detail: string;
            /** @description The same values, for programs */
            meta: Record<string, never>;
            status: number;
            title: string;
            /**
             * Format: uri
             * @description URL of a page about this problem
             */
            type: string;
        };
        /** Profile */
        Profile: {
            /**
             * Format: uuid
             * @description Account that the profile belongs to
             */
            account_id?: string;
            /**
             * Format: date-time
             * @description Creation time
             */
            created_at: string;
            /** @description Free text */
            description?: string;
            /**
             * Format: uuid
             * @description Profile identifier
             */
            id: string;
            incoming?: components["schemas"]["Incoming"];
            /** @description Unique among your profiles */
            nickname: string;
            /**
             * @description DISABLED: nothing can be sent from or to the profile. It can still be read
             * @enum {string}
             */
            status: "ACTIVE" | "DISABLED";
            /**
             * @description DEFAULT for the first profile that you created
             * @enum {string}
             */
            type: "DEFAULT" | "NORMAL";
            /**
             * Format: date-time
             * @description Last update time
             */
            updated_at: string;
        };
        /** ProfileList */
        ProfileList: {
            items: components["schemas"]["Profile"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** PublicJwkRequest */
        PublicJwkRequest: {
            alg?: string;
            crv?: string;
            e?: string;
            key_ops?: string[];
            kid?: string;
            /** @description Type of the key */
            kty: string;
            n?: string;
            use?: string;
            x?: string;
            y?: string;
        };
        /** RailContradiction */
        RailContradiction: {
            /**
             * Format: date-time
             * @description When it was first reported
             */
            created_at: string;
            /** @description The report, in words */
            detail: string;
            /** @description The rail that sent the report */
            rail: string;
            /**
             * @description PENDING: that rail was not asked to pay it
             * @enum {string}
             */
            recorded: "PENDING" | "COMPLETED" | "FAILED";
            /** @enum {string} */
            reported: "COMPLETED" | "FAILED";
            /**
             * Format: uuid
             * @description The withdrawal
             */
            transfer_id: string;
        };
        /** RailContradictionList */
        RailContradictionList: {
            items: components["schemas"]["RailContradiction"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** ReconciliationItem */
        ReconciliationItem: {
            /** @description Account */
            account: string;
            /**
             * @description Amount
             * @example 25.5
             */
            amount: string;
            /**
             * @description Asset
             * @example USD
             */
            asset: string;
            /**
             * Format: uuid
             * @description Of the entries of the ledger
             */
            cause_id?: string;
            /**
             * @description As the bank sees it: CREDIT came in
             * @enum {string}
             */
            direction: "CREDIT" | "DEBIT";
            /**
             * Format: uuid
             * @description Identifier
             */
            id: string;
            /**
             * Format: uuid
             * @description The statement that was imported
             */
            imported_statement_id?: string;
            /** @description The bank's reference, the transaction, or the id of the transfer */
            reference: string;
            /**
             * @description Where it is
             * @enum {string}
             */
            side: "LEDGER" | "STATEMENT";
            /**
             * Format: date-time
             * @description When it was booked
             */
            since: string;
        };
        /** ReconciliationItemList */
        ReconciliationItemList: {
            items: components["schemas"]["ReconciliationItem"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** RejectRequest */
        RejectRequest: {
            /** @description Identifies the version of the account that was shown: the `digest` of a view */
            digest: string;
            /** @description Included in the event that the customer receives */
            reason: string;
        };
        /** RemovedAccountMember */
        RemovedAccountMember: {
            /**
             * Format: uuid
             * @description Account
             */
            account_id: string;
            /**
             * Format: uuid
             * @description Member identifier
             */
            id: string;
            /**
             * Format: uuid
             * @description Identity on the account
             */
            identity_id: string;
            /** @description Roles of the member on the account */
            roles: ("BENEFICIAL_OWNER" | "AUTHORIZED_USER" | "FINANCIAL_ADVISOR")[];
        };
        /** ReplayWebhookRequest */
        ReplayWebhookRequest: {
            /**
             * Format: date-time
             * @description Events since this time are sent again, in order
             */
            since: string;
        };
        /** ReportBalanceRequest */
        ReportBalanceRequest: {
            /**
             * @description `treasury` or `clearing:<rail>`
             * @example clearing:wire
             */
            account: string;
            /**
             * @description Asset
             * @example USD
             */
            asset: string;
            /**
             * Format: date-time
             * @description When the balance was that
             */
            at: string;
            /**
             * @description What was there
             * @example 12.5
             */
            balance: string;
            /** @description The statement, or the block */
            reference: string;
        };
        /** ReportedBalance */
        ReportedBalance: {
            /** @description Account */
            account: string;
            /** @description The client that reported it */
            actor: string;
            /**
             * @description Asset
             * @example USD
             */
            asset: string;
            /**
             * Format: date-time
             * @description When the balance was that
             */
            at: string;
            /**
             * @description What was there; negative if it is owed
             * @example 12.5
             * @example -0.01
             */
            balance: string;
            /**
             * Format: date-time
             * @description When it was reported
             */
            created_at: string;
            /**
             * @description What was there in excess of the ledger; negative if it is owed
             * @example 12.5
             * @example -0.01
             */
            difference: string;
            /**
             * Format: uuid
             * @description Identifier
             */
            id: string;
            /**
             * @description What the ledger had at that time; negative if it is owed
             * @example 12.5
             * @example -0.01
             */
            ledger_balance: string;
            /** @description The statement, or the block */
            reference: string;
            /**
             * @description The difference without the items that are on one side only; negative if it is owed
             * @example 12.5
             * @example -0.01
             */
            unexplained: string;
        };
        /** ReportedBalanceList */
        ReportedBalanceList: {
            items: components["schemas"]["ReportedBalance"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** ResolveWithdrawalRequest */
        ResolveWithdrawalRequest: {
            /** @description Shown to the customers concerned, in their events */
            note?: string;
            /**
             * @description PAID: the withdrawal is COMPLETED. NOT_PAID: it FAILED, and its total returns
             * @enum {string}
             */
            outcome: "PAID" | "NOT_PAID";
            /** @description Why; for operators, never shown to customers */
            reason: string;
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id: string;
            /** @description The evidence outside: the bank's reference, the transaction hash, or the number of a case */
            reference: string;
        };
        /**
         * SandboxArrival
         * @description The transfer that was credited, the deposit that is in suspense, or the journal entry that booked it
         */
        SandboxArrival: {
            /**
             * Format: uuid
             * @description The journal entry with which an operator booked it by hand
             */
            journal_entry_id?: string;
            suspense_deposit?: components["schemas"]["SuspenseDeposit"];
            transfer?: components["schemas"]["Transfer"];
        };
        /** SandboxCryptoArrivalRequest */
        SandboxCryptoArrivalRequest: {
            /** @description Destination address */
            address: string;
            /**
             * @description Amount that arrives
             * @example 25.5
             */
            amount: string;
            /**
             * @description Asset that arrives
             * @example USD
             */
            asset: string;
            /**
             * @description Crypto network
             * @enum {string}
             */
            crypto_network: "BITCOIN" | "ETHEREUM" | "BITCOIN_CASH" | "LITECOIN" | "SOLANA" | "POLYGON_POS" | "BASE" | "ARBITRUM_ONE" | "INK";
            /** @description Transaction hash; generated if absent */
            tx_hash?: string;
            /** @description Number of the output, without leading zeros; 0 if absent. On networks without numbered outputs: the number of a log, or the paid address, which is the default */
            tx_index?: string;
        };
        /** SandboxDepositRequest */
        SandboxDepositRequest: {
            /**
             * @description Amount to deposit
             * @example 25.5
             */
            amount: string;
            /**
             * @description Asset to deposit
             * @example USD
             */
            asset: string;
            /**
             * @description Crypto network
             * @enum {string}
             */
            crypto_network?: "BITCOIN" | "ETHEREUM" | "BITCOIN_CASH" | "LITECOIN" | "SOLANA" | "POLYGON_POS" | "BASE" | "ARBITRUM_ONE" | "INK";
            /** @description Up to 6 string key–value pairs; each key and value has at most 100 characters. */
            metadata?: {
                [key: string]: string;
            };
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id?: string;
        };
        /** SandboxFiatArrivalRequest */
        SandboxFiatArrivalRequest: {
            /** @description The account that is paid; "sandbox" if absent */
            account?: string;
            /**
             * @description Amount in USD
             * @example 25.5
             */
            amount: string;
            /**
             * @description Bank or network that the money arrives over
             * @enum {string}
             */
            fiat_network: "WIRE" | "CUBIX" | "BANK_NETWORK_2" | "BANK_NETWORK_3" | "CBIT";
            /** @description The memo of the payment */
            memo_id: string;
            /** @description The bank's reference, unique within the account; generated if absent */
            reference?: string;
        };
        /** SandboxReviewRequest */
        SandboxReviewRequest: {
            /** @description Included in the event that the customer receives */
            reason?: string;
        };
        /** SearchHit */
        SearchHit: {
            /**
             * @description Amount
             * @example 25.5
             */
            amount?: string;
            /**
             * @description Asset
             * @example USD
             */
            asset?: string;
            /**
             * Format: date-time
             * @description When it was created
             */
            created_at: string;
            /**
             * Format: uuid
             * @description The customer that it belongs to
             */
            customer_id?: string;
            /** @description Its id */
            id: string;
            /** @description Its type, name or summary */
            label: string;
            /**
             * @description What is equal to the text
             * @enum {string}
             */
            matched: "ID" | "REF_ID" | "HASH" | "ADDRESS" | "NAME" | "AMOUNT";
            status?: string;
            /**
             * @description What it is
             * @enum {string}
             */
            type: "TRANSFER" | "CUSTOMER" | "PROFILE" | "IDENTITY" | "ACCOUNT" | "FIAT_ACCOUNT" | "DEPOSIT_ADDRESS" | "SETTLEMENT" | "JOURNAL_ENTRY" | "SUSPENSE_DEPOSIT" | "APPROVAL" | "FREEZE" | "POLICY" | "PERSON";
        };
        /** SearchResult */
        SearchResult: {
            /** @description False: there may be more. Amounts are looked for among the latest 20000 transfers only */
            complete: boolean;
            /** @description Newest first, at most 50 */
            items: components["schemas"]["SearchHit"][];
        };
        /** Session */
        Session: {
            /** @description The address that the person signed in from */
            address?: string;
            /**
             * Format: date-time
             * @description When the person last proved who they are: the sign-in or a step-up
             */
            authenticated_at: string;
            /**
             * Format: date-time
             * @description Sign-in
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the person has to sign in again; earlier if the session is not used
             */
            expires_at: string;
            /**
             * Format: uuid
             * @description Identifier
             */
            id: string;
            /**
             * @description How the person signed in
             * @enum {string}
             */
            method: "PASSKEY" | "OPENID" | "DEMO";
            /**
             * Format: date-time
             * @description Last use, to the minute
             */
            used_at: string;
            /** @description The browser, as it names itself */
            user_agent?: string;
        };
        /** SessionList */
        SessionList: {
            items: components["schemas"]["Session"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** SettledAmount */
        SettledAmount: {
            /**
             * @description Asset
             * @example USD
             */
            asset: string;
            /**
             * @description The sum of all legs
             * @example 25.5
             */
            gross: string;
            /**
             * @description What the parties needed to have: less than the gross if netting resolved a gridlock
             * @example 25.5
             */
            net: string;
        };
        /** SettledSet */
        SettledSet: {
            assets: components["schemas"]["SettledAmount"][];
            profile_ids: string[];
            /**
             * Format: date-time
             * @description When they settled, in one commit
             */
            settled_at: string;
            transaction_ids: string[];
        };
        /** SettlementLeg */
        SettlementLeg: {
            /**
             * @description Amount that moves
             * @example 25.5
             */
            amount: string;
            /**
             * @description Asset that moves
             * @example USD
             */
            asset: string;
            /**
             * @description DELIVER: from the source to the target; RECEIVE: from the target to the source
             * @enum {string}
             */
            direction: "DELIVER" | "RECEIVE";
            /**
             * Format: uuid
             * @description Leg identifier
             */
            id: string;
        };
        /** SettlementNetwork */
        SettlementNetwork: {
            /** @description False: more than 2000 transactions are open, and those whose window ends last are missing */
            complete: boolean;
            /** @description What affirmed transactions amount to, per pair of profiles and asset */
            obligations: components["schemas"]["SettlementObligation"][];
            /** @description Sets of transactions, linked by their parties, that settled in one commit, newest first; at most 20 */
            settled_together: components["schemas"]["SettledSet"][];
        };
        /** SettlementObligation */
        SettlementObligation: {
            /**
             * @description The net of all affirmed transactions between the two
             * @example 25.5
             */
            amount: string;
            /**
             * @description Asset
             * @example USD
             */
            asset: string;
            /**
             * Format: uuid
             * @description Its owner
             */
            from_customer_id: string;
            /**
             * Format: uuid
             * @description The profile that pays
             */
            from_profile_id: string;
            /**
             * Format: uuid
             * @description Its owner
             */
            to_customer_id: string;
            /**
             * Format: uuid
             * @description The profile that receives
             */
            to_profile_id: string;
            /** @description How many transactions it is the net of */
            transactions: number;
        };
        /** SettlementTransaction */
        SettlementTransaction: {
            /**
             * Format: date-time
             * @description Creation time
             */
            created_at: string;
            /**
             * Format: uuid
             * @description Transaction identifier
             */
            id: string;
            /** @description One-way asset movements settled atomically, in request order */
            legs: components["schemas"]["SettlementLeg"][];
            /** @description Idempotency key of the source; assigned by the service if none was sent */
            ref_id: string;
            secondary_status?: {
                /** @description The same as a sentence */
                detail: string;
                /** @description What the transaction is waiting for */
                name: string;
            };
            /**
             * Format: date-time
             * @description The transaction expires at this time unless it has settled or was cancelled
             */
            settlement_window_end: string;
            /**
             * Format: date-time
             * @description The transaction can settle from this time on
             */
            settlement_window_start: string;
            /**
             * Format: uuid
             * @description Profile of the party that submitted the transaction
             */
            source_profile_id: string;
            /** @enum {string} */
            status: "PENDING" | "SETTLED" | "EXPIRED" | "CANCELLED" | "AFFIRMED";
            /**
             * Format: uuid
             * @description Profile of the party that receives the transaction
             */
            target_profile_id: string;
            /**
             * Format: date-time
             * @description Last update time
             */
            updated_at: string;
        };
        /**
         * SettlementTransactionEvent
         * @description An event whose `data` is of the type SettlementTransaction
         */
        SettlementTransactionEvent: components["schemas"]["Event"] & {
            data?: components["schemas"]["SettlementTransaction"];
        };
        /** SettlementTransactionList */
        SettlementTransactionList: {
            items: components["schemas"]["SettlementTransaction"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** SettlementTransactionRequest */
        SettlementTransactionRequest: {
            /** @description Obligations settled atomically, 1 to 100 */
            legs: {
                /**
                 * @description Amount to move
                 * @example 25.5
                 */
                amount: string;
                /**
                 * @description Asset to move
                 * @example USD
                 */
                asset: string;
                /**
                 * @description DELIVER: from the source to the target; RECEIVE: from the target to the source
                 * @enum {string}
                 */
                direction: "DELIVER" | "RECEIVE";
            }[];
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id?: string;
            /**
             * Format: date-time
             * @description Default: 24 hours after the start. Must be in the future, at most 90 days from now
             */
            settlement_window_end?: string;
            /**
             * Format: date-time
             * @description Default: now
             */
            settlement_window_start?: string;
            /**
             * Format: uuid
             * @description Your profile
             */
            source_profile_id: string;
            /**
             * Format: uuid
             * @description Profile of the other party
             */
            target_profile_id: string;
        };
        /** StablecoinConversion */
        StablecoinConversion: {
            /**
             * Format: uuid
             * @description Account of that identity
             */
            account_id?: string;
            /**
             * @description Amount that was converted, the same in both assets
             * @example 25.5
             */
            amount: string;
            /**
             * Format: date-time
             * @description When it was settled
             */
            created_at: string;
            /**
             * Format: uuid
             * @description Customer identifier
             */
            customer_id: string;
            /**
             * Format: uuid
             * @description Conversion identifier
             */
            id: string;
            /**
             * Format: uuid
             * @description Identity of the user who converts
             */
            identity_id?: string;
            /** @description Up to 6 string key–value pairs; each key and value has at most 100 characters. */
            metadata?: {
                [key: string]: string;
            };
            /**
             * Format: uuid
             * @description Profile whose balances change
             */
            profile_id: string;
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id?: string;
            /**
             * @description Asset that is debited
             * @example USD
             */
            source_asset: string;
            /**
             * @description Both balances have changed
             * @enum {string}
             */
            status: "SETTLED";
            /**
             * @description Asset that is credited
             * @example USD
             */
            target_asset: string;
        };
        /**
         * StablecoinConversionEvent
         * @description An event whose `data` is of the type StablecoinConversion
         */
        StablecoinConversionEvent: components["schemas"]["Event"] & {
            data?: components["schemas"]["StablecoinConversion"];
        };
        /** StablecoinConversionList */
        StablecoinConversionList: {
            items: components["schemas"]["StablecoinConversion"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** StablecoinConversionRequest */
        StablecoinConversionRequest: {
            /**
             * Format: uuid
             * @description Account of that identity
             */
            account_id?: string;
            /**
             * @description Amount to convert, the same in both assets
             * @example 25.5
             */
            amount: string;
            /**
             * Format: uuid
             * @description Identity of the user who converts
             */
            identity_id?: string;
            /** @description Up to 6 string key–value pairs; each key and value has at most 100 characters. */
            metadata?: {
                [key: string]: string;
            };
            /**
             * Format: uuid
             * @description Profile whose balances change
             */
            profile_id: string;
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id?: string;
            /**
             * @description Asset that is debited
             * @example USD
             */
            source_asset: string;
            /**
             * @description Asset that is credited
             * @example USD
             */
            target_asset: string;
        };
        /** Statement */
        Statement: {
            /**
             * @description Asset
             * @example USD
             */
            asset: string;
            closing: components["schemas"]["Position"];
            /**
             * Format: date-time
             * @description Start of the period, inclusive
             */
            from: string;
            /** @description Oldest first. Value that is put on hold or released is not a movement */
            movements: components["schemas"]["Movement"][];
            opening: components["schemas"]["Position"];
            /**
             * Format: uuid
             * @description Profile
             */
            profile_id: string;
            /**
             * Format: date-time
             * @description End of the period, exclusive
             */
            to: string;
        };
        /** SuspenseDeposit */
        SuspenseDeposit: {
            /** @description The operator's own bank account that was paid */
            account?: string;
            /**
             * @description Amount that arrived; absent while the asset is not configured
             * @example 25.5
             */
            amount?: string;
            /** @description The amount in the smallest unit of the asset */
            amount_units: string;
            /**
             * @description Asset that arrived, as the rail names it
             * @example USD
             */
            asset: string;
            /**
             * Format: date-time
             * @description When it was recorded
             */
            created_at: string;
            /**
             * Format: uuid
             * @description Identifier
             */
            id: string;
            /**
             * Format: uuid
             * @description The journal entry that put the value into suspense
             */
            journal_entry_id?: string;
            /** @description Rail that it arrived over */
            rail: string;
            /** @description Why it was not credited */
            reason: string;
            /** @description Transaction and output, or the bank's reference */
            reference: string;
            /**
             * Format: uuid
             * @description The journal entry that returned it to its sender
             */
            returned_by?: string;
            /** @description The address, or the memo */
            sent_to: string;
            /**
             * Format: uuid
             * @description The transfer that credited it
             */
            transfer_id?: string;
        };
        /** SuspenseDepositList */
        SuspenseDepositList: {
            items: components["schemas"]["SuspenseDeposit"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** SystemEntry */
        SystemEntry: {
            /** @description Account of the service */
            account: string;
            /**
             * @description Amount
             * @example 25.5
             */
            amount: string;
            /**
             * @description Asset
             * @example USD
             */
            asset: string;
            /**
             * Format: date-time
             * @description Its instant
             */
            at: string;
            cause: components["schemas"]["Cause"];
            /**
             * @description CREDIT adds to the balance
             * @enum {string}
             */
            direction: "CREDIT" | "DEBIT";
            /**
             * Format: uuid
             * @description The profile on the other side, of any customer
             */
            profile_id?: string;
        };
        /** SystemEntryList */
        SystemEntryList: {
            items: components["schemas"]["SystemEntry"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** Transfer */
        Transfer: {
            /**
             * Format: uuid
             * @description Account associated with the transfer
             */
            account_id?: string;
            /**
             * @description Amount sent in the transfer
             * @example 25.5
             */
            amount: string;
            /**
             * @description Asset of the transfer
             * @example USD
             */
            asset: string;
            auto_conversion?: Record<string, never>;
            /**
             * @description Asset whose balance was affected
             * @example USD
             */
            balance_asset?: string;
            /**
             * Format: date-time
             * @description Record creation time
             */
            created_at: string;
            /**
             * @description Crypto network
             * @enum {string}
             */
            crypto_network?: "BITCOIN" | "ETHEREUM" | "BITCOIN_CASH" | "LITECOIN" | "SOLANA" | "POLYGON_POS" | "BASE" | "ARBITRUM_ONE" | "INK";
            /** @description On-chain transaction hash */
            crypto_tx_hash?: string;
            /** @description Output index or output address */
            crypto_tx_index?: string;
            /**
             * Format: uuid
             * @description Customer identifier
             */
            customer_id: string;
            /** @description Destination crypto address */
            destination_address?: string;
            /** @enum {string} */
            direction: "CREDIT" | "DEBIT";
            /**
             * @description Fee paid
             * @example 25.5
             */
            fee: string;
            /**
             * Format: uuid
             * @description For fiat withdrawals, the fiat account paid to
             */
            fiat_account_id?: string;
            /**
             * Format: uuid
             * @description Links the debit and credit sides of an internal or platform transfer
             */
            group_id?: string;
            /**
             * Format: uuid
             * @description Transfer identifier
             */
            id: string;
            /**
             * Format: uuid
             * @description Identity associated with the transfer
             */
            identity_id?: string;
            /** @description Memo included with the transfer */
            memo?: string;
            /** @description Up to 6 string key–value pairs; each key and value has at most 100 characters. */
            metadata?: {
                [key: string]: string;
            };
            /**
             * @description USD value of amount plus fee at transfer time
             * @example 25.5
             */
            notional_value?: string;
            /**
             * Format: uuid
             * @description Profile whose balance is debited or credited
             */
            profile_id: string;
            /** @description Your own id for this request, as idempotency key: a repeated request is not executed twice. */
            ref_id?: string;
            secondary_status?: {
                /** @description The same as a sentence */
                detail: string;
                /** @description What the transfer is waiting for, or how it ended */
                name: string;
            };
            /** @enum {string} */
            status: "PENDING" | "COMPLETED" | "FAILED";
            status_details?: {
                max_rent_exceeded?: {
                    destination_address: string;
                    message: string;
                };
            };
            /**
             * @description Unsigned balance change: amount - fee for deposits, amount + fee for withdrawals
             * @example 25.5
             */
            total: string;
            /** @enum {string} */
            type: "PLATFORM_TRANSFER_DEBIT" | "PLATFORM_TRANSFER_CREDIT" | "INTERNAL_TRANSFER_DEBIT" | "INTERNAL_TRANSFER_CREDIT" | "CRYPTO_DEPOSIT" | "CRYPTO_WITHDRAWAL" | "WIRE_DEPOSIT" | "WIRE_WITHDRAWAL" | "CUBIX_DEPOSIT" | "CUBIX_WITHDRAWAL" | "BANK_DEPOSIT" | "BANK_WITHDRAWAL" | "CBIT_DEPOSIT" | "CBIT_WITHDRAWAL" | "SEN_DEPOSIT" | "SEN_WITHDRAWAL" | "SIGNET_DEPOSIT" | "SIGNET_WITHDRAWAL";
            /**
             * Format: date-time
             * @description Last update time
             */
            updated_at: string;
        };
        /**
         * TransferEvent
         * @description An event whose `data` is of the type Transfer
         */
        TransferEvent: components["schemas"]["Event"] & {
            data?: components["schemas"]["Transfer"];
        };
        /** TransferList */
        TransferList: {
            items: components["schemas"]["Transfer"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** Treasury */
        Treasury: {
            alarms: {
                /**
                 * @description Asset
                 * @example USD
                 */
                asset?: string;
                /** @description A sentence for operators */
                detail: string;
                /** @description Rail */
                rail: string;
                /** @enum {string} */
                reason: "below-low-mark" | "above-high-mark" | "difference" | "out-of-gas" | "not-observed" | "stopped";
            }[];
            banks: {
                /** @description `clearing:<rail>` or `treasury` */
                account: string;
                /**
                 * @description Asset
                 * @example USD
                 */
                asset: string;
                /**
                 * Format: date-time
                 * @description When the balance was that
                 */
                at: string;
                /**
                 * @description The last balance that the bank reported; may be negative
                 * @example 12.5
                 * @example -0.01
                 */
                balance: string;
                /**
                 * @description What the bank has more; may be negative
                 * @example 12.5
                 * @example -0.01
                 */
                difference: string;
                /**
                 * @description What the ledger had at that time; may be negative
                 * @example 12.5
                 * @example -0.01
                 */
                ledger_balance: string;
                /** @description The statement */
                reference: string;
            }[];
            networks: {
                /** @description The cold wallet */
                cold_address?: string;
                /** @description Network */
                network: string;
                wallets: {
                    /**
                     * @description Asset
                     * @example USD
                     */
                    asset: string;
                    /**
                     * @description What the chain has more than the ledger, without what is in flight; may be negative
                     * @example 12.5
                     * @example -0.01
                     */
                    difference: string;
                    /**
                     * Format: date-time
                     * @description Since when there is a difference
                     */
                    differs_since?: string;
                    /** @description Of the coin: payments whose fee the poorest lane can pay */
                    gas_payments?: number;
                    /**
                     * @description Above it the hot wallet pays the cold one
                     * @example 25.5
                     */
                    high_mark?: string;
                    in_flight: {
                        /**
                         * @description Deposits that are not final yet
                         * @example 25.5
                         */
                        arriving: string;
                        /**
                         * @description The most that the fees of all open transactions can be
                         * @example 25.5
                         */
                        fees_reserved: string;
                        /**
                         * @description Payments and moves to the cold wallet that have not ended
                         * @example 25.5
                         */
                        leaving: string;
                    };
                    ledger: {
                        /**
                         * @description What `cold:<rail>` says is in the cold wallet; may be negative
                         * @example 12.5
                         * @example -0.01
                         */
                        cold: string;
                        /**
                         * @description What `clearing:<rail>` says is there; may be negative
                         * @example 12.5
                         * @example -0.01
                         */
                        hot: string;
                        /**
                         * @description What `network-fees:<rail>` says the network was paid; may be negative
                         * @example 12.5
                         * @example -0.01
                         */
                        network_fees: string;
                    };
                    /**
                     * @description Which side of its marks the hot wallet is on
                     * @enum {string}
                     */
                    level: "BELOW_LOW" | "BETWEEN" | "ABOVE_HIGH" | "UNMARKED";
                    /**
                     * @description Below it the hot wallet needs a refill
                     * @example 25.5
                     */
                    low_mark?: string;
                    on_chain: {
                        /**
                         * @description In the cold wallet, if there is one
                         * @example 25.5
                         */
                        cold?: string;
                        /**
                         * @description At deposit addresses, not swept yet
                         * @example 25.5
                         */
                        deposit_addresses: string;
                        /** @description Its hash */
                        hash: string;
                        /** @description The final block at which this was so */
                        height: number;
                        /**
                         * @description In the hot wallet
                         * @example 25.5
                         */
                        hot: string;
                        /**
                         * Format: date-time
                         * @description When it was observed
                         */
                        observed_at: string;
                    };
                }[];
            }[];
        };
        /** TrialBalance */
        TrialBalance: {
            assets: components["schemas"]["AssetTrialBalance"][];
            /**
             * Format: date-time
             * @description The instant of the balances, inclusive
             */
            at: string;
        };
        /** UnmatchRequest */
        UnmatchRequest: {
            /** @description Why; for operators only */
            reason: string;
        };
        /** UpdateAccountRequest */
        UpdateAccountRequest: {
            /** @description Free text */
            description?: string;
            /** @description Up to 6 string key–value pairs; each key and value has at most 100 characters. */
            metadata?: {
                [key: string]: string;
            };
            /** @enum {string} */
            type?: "BROKERAGE" | "CUSTODY" | "OTHER";
        };
        /** UpdateFiatAccountRequest */
        UpdateFiatAccountRequest: {
            /** @description Exactly one of person_details and institution_details */
            fiat_account_owner?: {
                institution_details?: {
                    /** @description Name of the institution */
                    name: string;
                };
                person_details?: {
                    /** @description First name */
                    first_name: string;
                    /** @description Last name */
                    last_name: string;
                };
            };
            /** @description Exactly one kind. Without some of its required fields, only the given fields change */
            fiat_network_instructions?: {
                bank_network_2?: {
                    /** @description Account number or IBAN, without blanks; absent, or masked as answers show it: unchanged */
                    account_number?: string;
                };
                bank_network_3?: {
                    /** @description Account number or IBAN, without blanks; absent, or masked as answers show it: unchanged */
                    account_number?: string;
                };
                cbit?: {
                    /** @description Wallet on the CBIT network; absent, or masked as answers show it: unchanged */
                    wallet_address?: string;
                };
                cubix?: {
                    /** @description Account on the first bank network; absent, or masked as answers show it: unchanged */
                    account_id?: string;
                };
                wire?: {
                    /** @description Account number or IBAN, without blanks; absent, or masked as answers show it: unchanged */
                    account_number?: string;
                    /** @description Address of the owner of the account */
                    fiat_account_owner_address?: {
                        /** @description Street and number */
                        address1?: string;
                        /** @description More of the street address */
                        address2?: string;
                        /** @description City */
                        city?: string;
                        /** @description ISO 3166 code of two or three letters; anything else waits for an operator */
                        country: string;
                        /** @description State or province */
                        province?: string;
                        /** @description Postal code */
                        zip_code?: string;
                    };
                    /** @description The intermediary bank, if any */
                    intermediary_routing_details?: {
                        /** @description Address of the bank */
                        bank_address: {
                            /** @description Street and number */
                            address1?: string;
                            /** @description More of the street address */
                            address2?: string;
                            /** @description City */
                            city?: string;
                            /** @description ISO 3166 code of two or three letters; anything else waits for an operator */
                            country: string;
                            /** @description State or province */
                            province?: string;
                            /** @description Postal code */
                            zip_code?: string;
                        };
                        /** @description Name of the bank */
                        bank_name: string;
                        /** @description ABA: nine digits. SWIFT: a BIC of 8 or 11 characters (ISO 9362) */
                        routing_number: string;
                        /** @enum {string} */
                        routing_number_type: "ABA" | "SWIFT";
                    };
                    /** @description The bank that holds the account */
                    routing_details?: {
                        /** @description Address of the bank */
                        bank_address: {
                            /** @description Street and number */
                            address1?: string;
                            /** @description More of the street address */
                            address2?: string;
                            /** @description City */
                            city?: string;
                            /** @description ISO 3166 code of two or three letters; anything else waits for an operator */
                            country: string;
                            /** @description State or province */
                            province?: string;
                            /** @description Postal code */
                            zip_code?: string;
                        };
                        /** @description Name of the bank */
                        bank_name: string;
                        /** @description ABA: nine digits. SWIFT: a BIC of 8 or 11 characters (ISO 9362) */
                        routing_number: string;
                        /** @enum {string} */
                        routing_number_type: "ABA" | "SWIFT";
                    };
                };
            };
            /** @description Up to 6 string key–value pairs; each key and value has at most 100 characters. */
            metadata?: {
                [key: string]: string;
            };
        };
        /** UpdateIdentityRequest */
        UpdateIdentityRequest: {
            /** @description Of an institution */
            institution_details?: {
                /** @description Name */
                name: string;
            };
            /** @description Up to 6 string key–value pairs; each key and value has at most 100 characters. */
            metadata?: {
                [key: string]: string;
            };
            /** @description Of a person */
            person_details?: {
                /** @description First name */
                first_name: string;
                /** @description Last name */
                last_name: string;
            };
        };
        /** UpdateProfileRequest */
        UpdateProfileRequest: {
            /** @description Free text */
            description?: string;
            /** @description Unique among your profiles */
            nickname?: string;
        };
        /** UpdateWebhookRequest */
        UpdateWebhookRequest: {
            description?: string;
            /** @description An endpoint that is enabled again continues with the first event that it has not received */
            enabled?: boolean;
            /** @description Types of events to send. Default: all, `["*"]` */
            event_types?: string[];
            /**
             * @description Where events are sent with POST. In production: https and a public address
             * @example https://example.com/ferry
             */
            url?: string;
        };
        /** Webhook */
        Webhook: {
            /**
             * Format: date-time
             * @description When it was created
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was deleted
             */
            deleted_at?: string;
            description?: string;
            /** @description Why the service disabled it */
            disabled_reason?: string;
            enabled: boolean;
            event_types: string[];
            /**
             * Format: date-time
             * @description Since when every attempt has failed. Absent for a healthy endpoint
             */
            failing_since?: string;
            /**
             * Format: uuid
             * @description Identifier of the endpoint
             */
            id: string;
            /**
             * Format: date-time
             * @description When the next attempt is due. Present while the endpoint fails and is enabled
             */
            next_attempt_at?: string;
            /**
             * Format: date-time
             * @description Until then the previous secret signs as well
             */
            previous_secret_expires_at?: string;
            ref_id?: string;
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updated_at: string;
            url: string;
        };
        /** WebhookDelivery */
        WebhookDelivery: {
            attempts: number;
            /**
             * Format: date-time
             * @description When the delivery was created
             */
            created_at: string;
            /** @description Why there is no response */
            error?: string;
            /**
             * Format: uuid
             * @description The event, and the `webhook-id` of every attempt
             */
            event_id: string;
            event_type: string;
            /**
             * Format: uuid
             * @description Identifier of the delivery
             */
            id: string;
            /**
             * Format: date-time
             * @description Earliest time of the next attempt
             */
            next_attempt_at?: string;
            /** @description The request of the last attempt */
            request?: {
                body: components["schemas"]["Event"];
                headers: {
                    [key: string]: string;
                };
                url: string;
            };
            /** @description The response to the last attempt; absent if there was none */
            response?: {
                /** @description The first 4096 bytes */
                body: string;
                duration_ms: number;
                headers: {
                    [key: string]: string;
                };
                status: number;
            };
            /**
             * @description PENDING until an attempt is answered with 2xx; FAILED if no attempt succeeds within three days
             * @enum {string}
             */
            status: "PENDING" | "DELIVERED" | "FAILED";
            /** @enum {string} */
            trigger: "EVENT" | "REPLAY" | "TEST";
            /**
             * Format: date-time
             * @description Time of the last attempt
             */
            updated_at: string;
            /**
             * Format: uuid
             * @description The endpoint
             */
            webhook_id: string;
        };
        /** WebhookDeliveryList */
        WebhookDeliveryList: {
            items: components["schemas"]["WebhookDelivery"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** WebhookEndpointHealth */
        WebhookEndpointHealth: {
            /**
             * Format: uuid
             * @description Its owner
             */
            customer_id: string;
            /** @description Why the service disabled it */
            disabled_reason?: string;
            /**
             * Format: date-time
             * @description Since when every attempt has failed
             */
            failing_since?: string;
            /** @description Attempts that failed, one after another */
            failures: number;
            /** @description Statuses of the latest deliveries, newest first; at most 30 */
            latest: ("PENDING" | "DELIVERED" | "FAILED")[];
            /**
             * Format: date-time
             * @description When the oldest of them was created
             */
            oldest_pending_at?: string;
            /** @description Deliveries that wait for an attempt; at most 1000 are counted */
            pending: number;
            /**
             * @description FAILING: every attempt since `failing_since` has failed. DISABLED: nothing is sent
             * @enum {string}
             */
            state: "FAILING" | "DISABLED" | "DELIVERING";
            url: string;
            /**
             * Format: uuid
             * @description The endpoint
             */
            webhook_id: string;
        };
        /**
         * WebhookEvent
         * @description An event whose `data` is of the type Webhook
         */
        WebhookEvent: components["schemas"]["Event"] & {
            data?: components["schemas"]["Webhook"];
        };
        /** WebhookHealth */
        WebhookHealth: {
            /** @description Endpoints that answer; at most 10000 endpoints are counted */
            delivering: number;
            /** @description Endpoints that are disabled; at most 10000 endpoints are counted */
            disabled: number;
            /** @description Endpoints that fail; at most 10000 endpoints are counted */
            failing: number;
            /** @description The endpoint that has failed the longest first, then disabled ones, then those that answer; at most 100 */
            items: components["schemas"]["WebhookEndpointHealth"][];
        };
        /** WebhookList */
        WebhookList: {
            items: components["schemas"]["Webhook"][];
            /** @description Absent on the last page only. With several filters, a page may be short or even empty and still have a cursor */
            next_page_cursor?: string;
        };
        /** WebhookWithSecret */
        WebhookWithSecret: {
            /**
             * Format: date-time
             * @description When it was created
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was deleted
             */
            deleted_at?: string;
            description?: string;
            /** @description Why the service disabled it */
            disabled_reason?: string;
            enabled: boolean;
            event_types: string[];
            /**
             * Format: date-time
             * @description Since when every attempt has failed. Absent for a healthy endpoint
             */
            failing_since?: string;
            /**
             * Format: uuid
             * @description Identifier of the endpoint
             */
            id: string;
            /**
             * Format: date-time
             * @description When the next attempt is due. Present while the endpoint fails and is enabled
             */
            next_attempt_at?: string;
            /**
             * Format: date-time
             * @description Until then the previous secret signs as well
             */
            previous_secret_expires_at?: string;
            ref_id?: string;
            /**
             * @description Signs what is sent to you (Standard Webhooks). Store it: it is not shown again
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
             */
            secret?: string;
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updated_at: string;
            url: string;
        };
        /** WithdrawalNote */
        WithdrawalNote: {
            /**
             * Format: date-time
             * @description When
             */
            created_at: string;
            /** @description In words, for operators only */
            detail: string;
            /** @enum {string} */
            kind: "RAIL_REASON" | "SCREENING_REQUESTED" | "SCREENING_PASSED" | "SCREENING_REFUSED" | "RELEASED" | "REFUSED";
            /** @description Who: `client:<id>`, `rail:<name>` or `hook:<name>` */
            noted_by: string;
        };
        /** WithdrawalNoteList */
        WithdrawalNoteList: {
            items: components["schemas"]["WithdrawalNote"][];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description RFC 7517 */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "keys": [
                     *         {
                     *           "kty": "OKP",
                     *           "crv": "Ed25519",
                     *           "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
                     *           "kid": "019bc0fd-8ba2-7c3e-9f0b-3a52f4a8f1c2",
                     *           "alg": "EdDSA",
                     *           "use": "sig"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        keys: {
                            /** @description Algorithm */
                            alg?: string;
                            /** @description Curve */
                            crv?: string;
                            /** @description Key id, as in the header of tokens */
                            kid?: string;
                            /** @description Key type */
                            kty?: string;
                            /** @description Use */
                            use?: string;
                            /** @description Public key */
                            x?: string;
                        }[];
                    };
                };
            };
        };
    };
    getAuthorizationServerMetadata: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description RFC 8414 */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "issuer": "https://example.com",
                     *       "token_endpoint": "https://example.com/oauth2/token",
                     *       "jwks_uri": "https://example.com/.well-known/jwks.json",
                     *       "service_documentation": "https://example.com/docs",
                     *       "scopes_supported": [
                     *         "transfer:write_fiat_withdrawal",
                     *         "transfer:write_crypto_withdrawal",
                     *         "transfer:write_platform_transfer",
                     *         "transfer:write_internal_transfer",
                     *         "transfer:read_transfer",
                     *         "transfer:write_fiat_account",
                     *         "transfer:read_fiat_account",
                     *         "transfer:write_deposit_address",
                     *         "transfer:read_deposit_address",
                     *         "transfer:write_fiat_deposit_instructions",
                     *         "transfer:read_fiat_deposit_instructions",
                     *         "fee:write_crypto_withdrawal_fee",
                     *         "conversion:write_conversion_stablecoin",
                     *         "conversion:read_conversion_stablecoin",
                     *         "settlement:write_transaction",
                     *         "settlement:read_transaction",
                     *         "identity:write_identity",
                     *         "identity:read_identity",
                     *         "identity:write_account",
                     *         "identity:read_account",
                     *         "funding:write_profile",
                     *         "funding:read_profile",
                     *         "policy:read_policy",
                     *         "policy:write_policy",
                     *         "policy:approve_withdrawal",
                     *         "events:read_event",
                     *         "events:write_webhook",
                     *         "people:read_person",
                     *         "people:write_person",
                     *         "control:read_audit_log",
                     *         "control:read_client",
                     *         "control:read_approval",
                     *         "control:approve",
                     *         "sandbox:simulate",
                     *         "operator:read",
                     *         "operator:journal",
                     *         "operator:review",
                     *         "operator:approve",
                     *         "operator:admin"
                     *       ],
                     *       "grant_types_supported": [
                     *         "client_credentials"
                     *       ],
                     *       "token_endpoint_auth_methods_supported": [
                     *         "client_secret_basic",
                     *         "client_secret_post",
                     *         "private_key_jwt"
                     *       ],
                     *       "token_endpoint_auth_signing_alg_values_supported": [
                     *         "EdDSA",
                     *         "Ed25519",
                     *         "ES256",
                     *         "RS256",
                     *         "PS256"
                     *       ],
                     *       "revocation_endpoint": "https://example.com/oauth2/revoke",
                     *       "revocation_endpoint_auth_methods_supported": [
                     *         "client_secret_basic",
                     *         "client_secret_post",
                     *         "private_key_jwt"
                     *       ],
                     *       "revocation_endpoint_auth_signing_alg_values_supported": [
                     *         "EdDSA",
                     *         "Ed25519",
                     *         "ES256",
                     *         "RS256",
                     *         "PS256"
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /** @description Grants */
                        grant_types_supported?: string[];
                        /** @description The issuer and the audience of access tokens */
                        issuer: string;
                        /** @description URL */
                        jwks_uri: string;
                        /** @description URL */
                        revocation_endpoint?: string;
                        /** @description How clients authenticate */
                        revocation_endpoint_auth_methods_supported?: string[];
                        /** @description Algorithms of their assertions */
                        revocation_endpoint_auth_signing_alg_values_supported?: string[];
                        /** @description Scopes */
                        scopes_supported?: string[];
                        /** @description URL */
                        service_documentation?: string;
                        /** @description URL */
                        token_endpoint: string;
                        /** @description How clients authenticate */
                        token_endpoint_auth_methods_supported?: string[];
                        /** @description Algorithms of their assertions */
                        token_endpoint_auth_signing_alg_values_supported?: string[];
                    };
                };
            };
        };
    };
    revokeToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCIsImtpZCI6IjAxOWJjMGZkLThiYTIifQ.eyJzdWIiOiJmZXJyeV9iNDM0In0.c2lnbmF0dXJl"
                 *     }
                 */
                "application/x-www-form-urlencoded": {
                    /** @description A JWT that the client has signed (RFC 7523): `iss` and `sub` are the client id, `aud` is the issuer or the endpoint, `exp` is at most 300 seconds ahead, and `jti` is used once */
                    client_assertion?: string;
                    /** @description `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`, with a `client_assertion` */
                    client_assertion_type?: string;
                    /** @description With a secret in the body; otherwise optional */
                    client_id?: string;
                    /** @description Unless HTTP Basic or an assertion is used */
                    client_secret?: string;
                    /** @description The access token */
                    token: string;
                    /** @description Ignored: there are only access tokens */
                    token_type_hint?: string;
                };
            };
        };
        responses: {
            /** @description The token is not valid, or not any more */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example {} */
                    "application/json": Record<string, never>;
                };
            };
        };
    };
    createToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "grant_type": "client_credentials",
                 *       "scope": "transfer:write_platform_transfer transfer:read_transfer"
                 *     }
                 */
                "application/x-www-form-urlencoded": {
                    /** @description A JWT that the client has signed (RFC 7523): `iss` and `sub` are the client id, `aud` is the issuer or the endpoint, `exp` is at most 300 seconds ahead, and `jti` is used once */
                    client_assertion?: string;
                    /** @description `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`, with a `client_assertion` */
                    client_assertion_type?: string;
                    /** @description With a secret in the body; otherwise optional */
                    client_id?: string;
                    /** @description Unless HTTP Basic or an assertion is used */
                    client_secret?: string;
                    /** @enum {string} */
                    grant_type: "client_credentials";
                    /** @description Space-delimited; default: every scope of the client. Scopes: transfer:write_fiat_withdrawal, transfer:write_crypto_withdrawal, transfer:write_platform_transfer, transfer:write_internal_transfer, transfer:read_transfer, transfer:write_fiat_account, transfer:read_fiat_account, transfer:write_deposit_address, transfer:read_deposit_address, transfer:write_fiat_deposit_instructions, transfer:read_fiat_deposit_instructions, fee:write_crypto_withdrawal_fee, conversion:write_conversion_stablecoin, conversion:read_conversion_stablecoin, settlement:write_transaction, settlement:read_transaction, identity:write_identity, identity:read_identity, identity:write_account, identity:read_account, funding:write_profile, funding:read_profile, policy:read_policy, policy:write_policy, policy:approve_withdrawal, events:read_event, events:write_webhook, people:read_person, people:write_person, control:read_audit_log, control:read_client, control:read_approval, control:approve, sandbox:simulate, operator:read, operator:journal, operator:review, operator:approve, operator:admin. */
                    scope?: string;
                };
            };
        };
        responses: {
            /** @description An access token */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "access_token": "eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCIsImtpZCI6IjAxOWJjMGZkLThiYTIifQ.eyJzdWIiOiJmZXJyeV9iNDM0In0.c2lnbmF0dXJl",
                     *       "token_type": "bearer",
                     *       "expires_in": 3600,
                     *       "scope": "transfer:write_platform_transfer transfer:read_transfer"
                     *     }
                     */
                    "application/json": {
                        /** @description A JWT (RFC 9068); send it as `Authorization: Bearer <token>` */
                        access_token: string;
                        /** @description Seconds; always 3600 */
                        expires_in: number;
                        /** @description The granted scopes, space-delimited */
                        scope: string;
                        /** @enum {string} */
                        token_type: "bearer";
                    };
                };
            };
        };
    };
    listApprovals: {
        parameters: {
            query?: {
                /** @description Only these actions (repeatable) */
                actions?: ("journal_entry.book" | "withdrawal.resolve" | "withdrawal.cancel" | "suspense_deposit.credit" | "fiat_account.approve" | "fiat_account.reject" | "withdrawal.release" | "withdrawal.refuse" | "own_withdrawal.release" | "own_withdrawal.refuse" | "policy.change" | "own_policy.change" | "own_destination.list" | "freeze.create" | "freeze.lift" | "client.create" | "client.change" | "client.disable" | "client.enable" | "client.add_credentials" | "client.remove_credential" | "person.create" | "person.change" | "person.link" | "own_person.create" | "own_person.change" | "own_person.link")[];
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Only these requests (repeatable) */
                ids?: string[];
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
                /** @description Only with one of these statuses (repeatable) */
                statuses?: ("PENDING" | "EXECUTED" | "FAILED" | "REJECTED" | "EXPIRED")[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019bc0fd-8ba2-7a30-b1c5-94e6f20d7a81",
                     *           "action": "journal_entry.book",
                     *           "level": "CUSTOMER",
                     *           "status": "PENDING",
                     *           "summary": "Book a journal entry: WRITE_OFF of 12.5 USD. Goodwill after the outage.",
                     *           "proposal": {
                     *             "asset": "USD",
                     *             "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *             "amount": "12.5",
                     *             "kind": "WRITE_OFF",
                     *             "ref_id": "goodwill-0001",
                     *             "reason": "Goodwill after the outage.",
                     *             "reference": "CASE-1042"
                     *           },
                     *           "digest": "n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg",
                     *           "maker": {
                     *             "kind": "CLIENT",
                     *             "id": "f81f7a43-8c4e-4a0c-9e0f-5a3b8f0c1d27",
                     *             "customer_id": "01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *             "name": "back office",
                     *             "from": "192.0.2.10",
                     *             "request_id": "019bc0fd-8ba2-7c11-8d02-3b6f0a91e5d4"
                     *           },
                     *           "quorum": 1,
                     *           "votes": [],
                     *           "ref_id": "goodwill-0001",
                     *           "created_at": "2026-01-15T09:30:00.482193Z",
                     *           "updated_at": "2026-01-15T09:30:00.482193Z",
                     *           "expires_at": "2026-01-22T09:30:00.482193Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ApprovalList"];
                };
            };
        };
    };
    getApproval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-7a30-b1c5-94e6f20d7a81",
                     *       "action": "journal_entry.book",
                     *       "level": "CUSTOMER",
                     *       "status": "PENDING",
                     *       "summary": "Book a journal entry: WRITE_OFF of 12.5 USD. Goodwill after the outage.",
                     *       "proposal": {
                     *         "asset": "USD",
                     *         "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *         "amount": "12.5",
                     *         "kind": "WRITE_OFF",
                     *         "ref_id": "goodwill-0001",
                     *         "reason": "Goodwill after the outage.",
                     *         "reference": "CASE-1042"
                     *       },
                     *       "digest": "n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg",
                     *       "maker": {
                     *         "kind": "CLIENT",
                     *         "id": "f81f7a43-8c4e-4a0c-9e0f-5a3b8f0c1d27",
                     *         "customer_id": "01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *         "name": "back office",
                     *         "from": "192.0.2.10",
                     *         "request_id": "019bc0fd-8ba2-7c11-8d02-3b6f0a91e5d4"
                     *       },
                     *       "quorum": 1,
                     *       "votes": [],
                     *       "ref_id": "goodwill-0001",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "expires_at": "2026-01-22T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Approval"];
                };
            };
        };
    };
    approveApproval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "digest": "n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg",
                 *       "reason": "Checked with support."
                 *     }
                 */
                "application/json": {
                    /** @description The digest of the request that you have seen */
                    digest: string;
                    /** @description Why */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-7a30-b1c5-94e6f20d7a81",
                     *       "action": "journal_entry.book",
                     *       "level": "CUSTOMER",
                     *       "status": "EXECUTED",
                     *       "summary": "Book a journal entry: WRITE_OFF of 12.5 USD. Goodwill after the outage.",
                     *       "proposal": {
                     *         "asset": "USD",
                     *         "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *         "amount": "12.5",
                     *         "kind": "WRITE_OFF",
                     *         "ref_id": "goodwill-0001",
                     *         "reason": "Goodwill after the outage.",
                     *         "reference": "CASE-1042"
                     *       },
                     *       "digest": "n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg",
                     *       "maker": {
                     *         "kind": "CLIENT",
                     *         "id": "f81f7a43-8c4e-4a0c-9e0f-5a3b8f0c1d27",
                     *         "customer_id": "01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *         "name": "back office",
                     *         "from": "192.0.2.10",
                     *         "request_id": "019bc0fd-8ba2-7c11-8d02-3b6f0a91e5d4"
                     *       },
                     *       "quorum": 1,
                     *       "votes": [
                     *         {
                     *           "decision": "APPROVED",
                     *           "by": {
                     *             "kind": "CLIENT",
                     *             "id": "2c9b1e7d-5f60-4d3a-b8a1-7e4f92d0c653",
                     *             "customer_id": "01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *             "name": "controller",
                     *             "from": "192.0.2.11",
                     *             "request_id": "019bc0fd-8ba2-7c12-9a4e-60d1c8f27b35"
                     *           },
                     *           "created_at": "2026-01-15T09:30:02.107544Z",
                     *           "reason": "Checked with support."
                     *         }
                     *       ],
                     *       "ref_id": "goodwill-0001",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:02.107544Z",
                     *       "expires_at": "2026-01-22T09:30:00.482193Z",
                     *       "result": {
                     *         "type": "journal_entry",
                     *         "id": "019bc0fd-8ba2-74e7-a2c1-5d3fe8b06a94"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Approval"];
                };
            };
        };
    };
    claimApproval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "approval_id": "019bc0fd-8ba2-7a30-b1c5-94e6f20d7a81",
                     *       "person_id": "019bc0fd-8ba2-7a17-9c3e-51d08f6b2e49",
                     *       "enrolment_url": "https://example.com/signin/enrol#Zm9yLW9uZS1wZXJzb24tYW5kLW9ubHktb25jZS0tLS0",
                     *       "enrolment_expires_at": "2026-01-18T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Claim"];
                };
            };
        };
    };
    rejectApproval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "digest": "n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg",
                 *       "reason": "Checked with support."
                 *     }
                 */
                "application/json": {
                    /** @description The digest of the request that you have seen */
                    digest: string;
                    /** @description Why */
                    reason: string;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-7a30-b1c5-94e6f20d7a81",
                     *       "action": "journal_entry.book",
                     *       "level": "CUSTOMER",
                     *       "status": "REJECTED",
                     *       "summary": "Book a journal entry: WRITE_OFF of 12.5 USD. Goodwill after the outage.",
                     *       "proposal": {
                     *         "asset": "USD",
                     *         "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *         "amount": "12.5",
                     *         "kind": "WRITE_OFF",
                     *         "ref_id": "goodwill-0001",
                     *         "reason": "Goodwill after the outage.",
                     *         "reference": "CASE-1042"
                     *       },
                     *       "digest": "n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg",
                     *       "maker": {
                     *         "kind": "CLIENT",
                     *         "id": "f81f7a43-8c4e-4a0c-9e0f-5a3b8f0c1d27",
                     *         "customer_id": "01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *         "name": "back office",
                     *         "from": "192.0.2.10",
                     *         "request_id": "019bc0fd-8ba2-7c11-8d02-3b6f0a91e5d4"
                     *       },
                     *       "quorum": 1,
                     *       "votes": [
                     *         {
                     *           "decision": "REJECTED",
                     *           "by": {
                     *             "kind": "CLIENT",
                     *             "id": "2c9b1e7d-5f60-4d3a-b8a1-7e4f92d0c653",
                     *             "customer_id": "01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *             "name": "controller",
                     *             "from": "192.0.2.11",
                     *             "request_id": "019bc0fd-8ba2-7c12-9a4e-60d1c8f27b35"
                     *           },
                     *           "created_at": "2026-01-15T09:30:02.107544Z",
                     *           "reason": "Checked with support."
                     *         }
                     *       ],
                     *       "ref_id": "goodwill-0001",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:02.107544Z",
                     *       "expires_at": "2026-01-22T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Approval"];
                };
            };
        };
    };
    listAssets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "asset": "BTC",
                     *           "kind": "CRYPTO",
                     *           "decimals": 8,
                     *           "rails": [
                     *             {
                     *               "rail": "BITCOIN",
                     *               "withdrawal_fee": "0.0001",
                     *               "deposit_fee": "0"
                     *             }
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AssetList"];
                };
            };
        };
    };
    listAuditLog: {
        parameters: {
            query?: {
                /** @description Only these actions, such as fiat_account.* (repeatable) */
                actions?: string[];
                /** @description Only of these clients, people, workers or users (repeatable) */
                actor_ids?: string[];
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Only these entries (repeatable) */
                ids?: string[];
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
                /** @description Only of these resources (repeatable) */
                resource_ids?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019bc0fd-8ba2-7b55-a0d3-6c1f94e80001",
                     *           "action": "profile.created",
                     *           "resource_type": "profile",
                     *           "resource_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *           "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *           "outcome": "DONE",
                     *           "actor": {
                     *             "kind": "CLIENT",
                     *             "id": "f81f7a43-8c4e-4a0c-9e0f-5a3b8f0c1d27",
                     *             "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *             "name": "back office",
                     *             "from": "192.0.2.10",
                     *             "request_id": "019bc0fd-8ba2-7c11-8d02-3b6f0a91e5d4"
                     *           },
                     *           "after": {
                     *             "id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *             "nickname": "Treasury",
                     *             "type": "DEFAULT",
                     *             "description": "Where customers are paid from",
                     *             "status": "ACTIVE",
                     *             "created_at": "2026-01-15T09:30:00.482193Z",
                     *             "updated_at": "2026-01-15T09:30:00.482193Z"
                     *           },
                     *           "created_at": "2026-01-15T09:30:00.482193Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AuditList"];
                };
            };
        };
    };
    listOwnClients: {
        parameters: {
            query?: {
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
                /** @description In these statuses (repeatable) */
                statuses?: ("ACTIVE" | "DISABLED")[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "client_id": "ferry_b4347fb43a4afb2b9f86baf8",
                     *           "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *           "name": "back office",
                     *           "scopes": [
                     *             "funding:read_profile",
                     *             "transfer:read_transfer"
                     *           ],
                     *           "created_at": "2026-01-15T09:30:00.482193Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ClientList"];
                };
            };
        };
    };
    listStablecoinConversions: {
        parameters: {
            query?: {
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Conversions with these ids (repeatable) */
                ids?: string[];
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
                /** @description Conversions of these profiles (repeatable) */
                profile_ids?: string[];
                /** @description Conversions that were requested with these ref_ids (repeatable) */
                ref_ids?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *           "amount": "250",
                     *           "source_asset": "USD",
                     *           "target_asset": "PUSD",
                     *           "ref_id": "conversion-0031",
                     *           "id": "019bc0fd-8ba2-7c63-9b11-52d0a7e94f08",
                     *           "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *           "status": "SETTLED",
                     *           "created_at": "2026-01-15T09:30:00.482193Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["StablecoinConversionList"];
                };
            };
        };
    };
    createStablecoinConversion: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                 *       "amount": "250",
                 *       "source_asset": "USD",
                 *       "target_asset": "PUSD",
                 *       "ref_id": "conversion-0031"
                 *     }
                 */
                "application/json": components["schemas"]["StablecoinConversionRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "amount": "250",
                     *       "source_asset": "USD",
                     *       "target_asset": "PUSD",
                     *       "ref_id": "conversion-0031",
                     *       "id": "019bc0fd-8ba2-7c63-9b11-52d0a7e94f08",
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "status": "SETTLED",
                     *       "created_at": "2026-01-15T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["StablecoinConversion"];
                };
            };
        };
    };
    getStablecoinConversion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "amount": "250",
                     *       "source_asset": "USD",
                     *       "target_asset": "PUSD",
                     *       "ref_id": "conversion-0031",
                     *       "id": "019bc0fd-8ba2-7c63-9b11-52d0a7e94f08",
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "status": "SETTLED",
                     *       "created_at": "2026-01-15T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["StablecoinConversion"];
                };
            };
        };
    };
    listDestinations: {
        parameters: {
            query?: {
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description With these ids (repeatable) */
                ids?: string[];
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019bc0fd-8ba2-7a44-8f3e-0d2b6c9e1a58",
                     *           "destination": "BITCOIN/bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                     *           "label": "Cold wallet",
                     *           "added_by": "client:01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *           "created_at": "2026-01-15T09:30:00.482193Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ListedDestinationList"];
                };
            };
        };
    };
    listDestinationForWithdrawals: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "destination": "BITCOIN/bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                 *       "label": "Cold wallet"
                 *     }
                 */
                "application/json": components["schemas"]["ListedDestinationRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-7a44-8f3e-0d2b6c9e1a58",
                     *       "destination": "BITCOIN/bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                     *       "label": "Cold wallet",
                     *       "added_by": "client:01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *       "created_at": "2026-01-15T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["ListedDestination"];
                };
            };
        };
    };
    removeDestination: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-7a44-8f3e-0d2b6c9e1a58",
                     *       "destination": "BITCOIN/bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                     *       "label": "Cold wallet",
                     *       "added_by": "client:01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *       "created_at": "2026-01-15T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["ListedDestination"];
                };
            };
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Only these events (repeatable) */
                ids?: string[];
                /** @description Default 100 */
                limit?: number;
                /** @description next_page_cursor of an earlier page, or the id of the last event that was processed. Neither expires */
                page_cursor?: string;
                /** @description Only events of these resources (repeatable) */
                resource_ids?: string[];
                /** @description Only events of these types (repeatable) */
                types?: string[];
                /** @description How long to wait for events if there are none. Default 0 */
                wait_seconds?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019bc0fd-8ba3-73e3-83e3-c9040e220001",
                     *           "type": "transfer.crypto_withdrawal.pending",
                     *           "created_at": "2026-01-15T09:30:00.482193Z",
                     *           "resource_id": "019bc0fd-8ba2-7329-8f29-a8431be64c5f",
                     *           "data": {
                     *             "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *             "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *             "direction": "DEBIT",
                     *             "created_at": "2026-01-15T09:30:00.482193Z",
                     *             "updated_at": "2026-01-15T09:30:00.482193Z",
                     *             "id": "019bc0fd-8ba2-7329-8f29-a8431be64c5f",
                     *             "amount": "0.05",
                     *             "total": "0.0501",
                     *             "fee": "0.0001",
                     *             "asset": "BTC",
                     *             "type": "CRYPTO_WITHDRAWAL",
                     *             "status": "PENDING",
                     *             "balance_asset": "BTC",
                     *             "destination_address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                     *             "crypto_network": "BITCOIN",
                     *             "auto_conversion": {},
                     *             "secondary_status": {
                     *               "name": "QUEUED",
                     *               "detail": "Waiting to be submitted to the BITCOIN rail."
                     *             },
                     *             "notional_value": "3256.5"
                     *           }
                     *         }
                     *       ],
                     *       "next_page_cursor": "p2bW3x5uQn0Yk8sT1vLhGg",
                     *       "has_more": false
                     *     }
                     */
                    "application/json": components["schemas"]["EventPage"];
                };
            };
        };
    };
    getEvent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba3-73e3-83e3-c9040e220001",
                     *       "type": "transfer.crypto_withdrawal.pending",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "resource_id": "019bc0fd-8ba2-7329-8f29-a8431be64c5f",
                     *       "data": {
                     *         "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *         "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *         "direction": "DEBIT",
                     *         "created_at": "2026-01-15T09:30:00.482193Z",
                     *         "updated_at": "2026-01-15T09:30:00.482193Z",
                     *         "id": "019bc0fd-8ba2-7329-8f29-a8431be64c5f",
                     *         "amount": "0.05",
                     *         "total": "0.0501",
                     *         "fee": "0.0001",
                     *         "asset": "BTC",
                     *         "type": "CRYPTO_WITHDRAWAL",
                     *         "status": "PENDING",
                     *         "balance_asset": "BTC",
                     *         "destination_address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                     *         "crypto_network": "BITCOIN",
                     *         "auto_conversion": {},
                     *         "secondary_status": {
                     *           "name": "QUEUED",
                     *           "detail": "Waiting to be submitted to the BITCOIN rail."
                     *         },
                     *         "notional_value": "3256.5"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Event"];
                };
            };
        };
    };
    streamEvents: {
        parameters: {
            query?: {
                /** @description Only these events (repeatable) */
                ids?: string[];
                /** @description next_page_cursor of an earlier page, or the id of the last event that was processed. Neither expires */
                page_cursor?: string;
                /** @description Only events of these resources (repeatable) */
                resource_ids?: string[];
                /** @description Only events of these types (repeatable) */
                types?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example data: {"id":"019bc0fd-8ba3-73e3-83e3-c9040e220001","type":"transfer.crypto_withdrawal.pending","created_at":"2026-01-15T09:30:00.482193Z","resource_id":"019bc0fd-8ba2-7329-8f29-a8431be64c5f","data":{"customer_id":"01981b3e-1f40-7d22-8c19-5b7a90e3d614","profile_id":"01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40","direction":"DEBIT","created_at":"2026-01-15T09:30:00.482193Z","updated_at":"2026-01-15T09:30:00.482193Z","id":"019bc0fd-8ba2-7329-8f29-a8431be64c5f","amount":"0.05","total":"0.0501","fee":"0.0001","asset":"BTC","type":"CRYPTO_WITHDRAWAL","status":"PENDING","balance_asset":"BTC","destination_address":"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq","crypto_network":"BITCOIN","auto_conversion":{},"secondary_status":{"name":"QUEUED","detail":"Waiting to be submitted to the BITCOIN rail."},"notional_value":"3256.5"}} */
                    "text/event-stream": string;
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Only these endpoints (repeatable) */
                ids?: string[];
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019bc0fd-8ba2-73b4-b3b4-752715822c16",
                     *           "url": "https://example.com/ferry",
                     *           "event_types": [
                     *             "transfer.*"
                     *           ],
                     *           "enabled": true,
                     *           "created_at": "2026-01-15T09:30:00.482193Z",
                     *           "updated_at": "2026-01-15T09:30:00.482193Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookList"];
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "url": "https://example.com/ferry",
                 *       "event_types": [
                 *         "transfer.*"
                 *       ],
                 *       "ref_id": "transfers-to-example"
                 *     }
                 */
                "application/json": components["schemas"]["CreateWebhookRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-73b4-b3b4-752715822c16",
                     *       "url": "https://example.com/ferry",
                     *       "event_types": [
                     *         "transfer.*"
                     *       ],
                     *       "enabled": true,
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "ref_id": "transfers-to-example",
                     *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookWithSecret"];
                };
            };
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-73b4-b3b4-752715822c16",
                     *       "url": "https://example.com/ferry",
                     *       "event_types": [
                     *         "transfer.*"
                     *       ],
                     *       "enabled": true,
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event_types": [
                 *         "transfer.*",
                 *         "settlement.*"
                 *       ],
                 *       "enabled": true
                 *     }
                 */
                "application/json": components["schemas"]["UpdateWebhookRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-73b4-b3b4-752715822c16",
                     *       "url": "https://example.com/ferry",
                     *       "event_types": [
                     *         "transfer.*",
                     *         "settlement.*"
                     *       ],
                     *       "enabled": true,
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:02.107544Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-73b4-b3b4-752715822c16",
                     *       "url": "https://example.com/ferry",
                     *       "event_types": [
                     *         "transfer.*"
                     *       ],
                     *       "enabled": false,
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:02.107544Z",
                     *       "deleted_at": "2026-01-15T09:30:02.107544Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Only deliveries of these events (repeatable) */
                event_ids?: string[];
                /** @description Only these deliveries (repeatable) */
                ids?: string[];
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
                /** @description Only deliveries with these statuses (repeatable) */
                statuses?: ("PENDING" | "DELIVERED" | "FAILED")[];
            };
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019bc0fd-91fb-70c8-b8c8-51132e735305",
                     *           "webhook_id": "019bc0fd-8ba2-73b4-b3b4-752715822c16",
                     *           "event_id": "019bc0fd-91fb-7207-aa07-c9b486960001",
                     *           "event_type": "webhook_endpoint.test",
                     *           "trigger": "TEST",
                     *           "status": "DELIVERED",
                     *           "attempts": 1,
                     *           "request": {
                     *             "url": "https://example.com/ferry",
                     *             "headers": {
                     *               "webhook-id": "019bc0fd-91fb-7207-aa07-c9b486960001",
                     *               "webhook-timestamp": "1768469402",
                     *               "webhook-signature": "v1,VKbQL8irleJZYl9fJHI3EL0rXDpaVsWAOq+ubeVCk8s="
                     *             },
                     *             "body": {
                     *               "id": "019bc0fd-91fb-7207-aa07-c9b486960001",
                     *               "type": "webhook_endpoint.test",
                     *               "created_at": "2026-01-15T09:30:02.107544Z",
                     *               "resource_id": "019bc0fd-8ba2-73b4-b3b4-752715822c16",
                     *               "data": {
                     *                 "id": "019bc0fd-8ba2-73b4-b3b4-752715822c16",
                     *                 "url": "https://example.com/ferry",
                     *                 "event_types": [
                     *                   "transfer.*"
                     *                 ],
                     *                 "enabled": true,
                     *                 "created_at": "2026-01-15T09:30:00.482193Z",
                     *                 "updated_at": "2026-01-15T09:30:00.482193Z"
                     *               }
                     *             }
                     *           },
                     *           "response": {
                     *             "status": 200,
                     *             "headers": {
                     *               "date": "Thu, 15 Jan 2026 09:30:02 GMT",
                     *               "content-length": "6"
                     *             },
                     *             "body": "thanks",
                     *             "duration_ms": 45
                     *           },
                     *           "created_at": "2026-01-15T09:30:02.107544Z",
                     *           "updated_at": "2026-01-15T09:30:02.107544Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookDeliveryList"];
                };
            };
        };
    };
    getWebhookDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The delivery */
                delivery_id: string;
                /** @description The endpoint */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-91fb-70c8-b8c8-51132e735305",
                     *       "webhook_id": "019bc0fd-8ba2-73b4-b3b4-752715822c16",
                     *       "event_id": "019bc0fd-91fb-7207-aa07-c9b486960001",
                     *       "event_type": "webhook_endpoint.test",
                     *       "trigger": "TEST",
                     *       "status": "DELIVERED",
                     *       "attempts": 1,
                     *       "request": {
                     *         "url": "https://example.com/ferry",
                     *         "headers": {
                     *           "webhook-id": "019bc0fd-91fb-7207-aa07-c9b486960001",
                     *           "webhook-timestamp": "1768469402",
                     *           "webhook-signature": "v1,VKbQL8irleJZYl9fJHI3EL0rXDpaVsWAOq+ubeVCk8s="
                     *         },
                     *         "body": {
                     *           "id": "019bc0fd-91fb-7207-aa07-c9b486960001",
                     *           "type": "webhook_endpoint.test",
                     *           "created_at": "2026-01-15T09:30:02.107544Z",
                     *           "resource_id": "019bc0fd-8ba2-73b4-b3b4-752715822c16",
                     *           "data": {
                     *             "id": "019bc0fd-8ba2-73b4-b3b4-752715822c16",
                     *             "url": "https://example.com/ferry",
                     *             "event_types": [
                     *               "transfer.*"
                     *             ],
                     *             "enabled": true,
                     *             "created_at": "2026-01-15T09:30:00.482193Z",
                     *             "updated_at": "2026-01-15T09:30:00.482193Z"
                     *           }
                     *         }
                     *       },
                     *       "response": {
                     *         "status": 200,
                     *         "headers": {
                     *           "date": "Thu, 15 Jan 2026 09:30:02 GMT",
                     *           "content-length": "6"
                     *         },
                     *         "body": "thanks",
                     *         "duration_ms": 45
                     *       },
                     *       "created_at": "2026-01-15T09:30:02.107544Z",
                     *       "updated_at": "2026-01-15T09:30:02.107544Z"
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
        };
    };
    replayWebhookDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The delivery */
                delivery_id: string;
                /** @description The endpoint */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-91fb-72ff-96ff-293fc4f443ca",
                     *       "webhook_id": "019bc0fd-8ba2-73b4-b3b4-752715822c16",
                     *       "event_id": "019bc0fd-91fb-7207-aa07-c9b486960001",
                     *       "event_type": "webhook_endpoint.test",
                     *       "trigger": "REPLAY",
                     *       "status": "PENDING",
                     *       "attempts": 0,
                     *       "next_attempt_at": "2026-01-15T09:30:02.107544Z",
                     *       "created_at": "2026-01-15T09:30:02.107544Z",
                     *       "updated_at": "2026-01-15T09:30:02.107544Z"
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
        };
    };
    replayWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "since": "2026-01-01T00:00:00Z"
                 *     }
                 */
                "application/json": components["schemas"]["ReplayWebhookRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-73b4-b3b4-752715822c16",
                     *       "url": "https://example.com/ferry",
                     *       "event_types": [
                     *         "transfer.*"
                     *       ],
                     *       "enabled": true,
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-73b4-b3b4-752715822c16",
                     *       "url": "https://example.com/ferry",
                     *       "event_types": [
                     *         "transfer.*"
                     *       ],
                     *       "enabled": true,
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:02.107544Z",
                     *       "previous_secret_expires_at": "2026-01-16T09:30:00.482193Z",
                     *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookWithSecret"];
                };
            };
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-91fb-70c8-b8c8-51132e735305",
                     *       "webhook_id": "019bc0fd-8ba2-73b4-b3b4-752715822c16",
                     *       "event_id": "019bc0fd-91fb-7207-aa07-c9b486960001",
                     *       "event_type": "webhook_endpoint.test",
                     *       "trigger": "TEST",
                     *       "status": "DELIVERED",
                     *       "attempts": 1,
                     *       "request": {
                     *         "url": "https://example.com/ferry",
                     *         "headers": {
                     *           "webhook-id": "019bc0fd-91fb-7207-aa07-c9b486960001",
                     *           "webhook-timestamp": "1768469402",
                     *           "webhook-signature": "v1,VKbQL8irleJZYl9fJHI3EL0rXDpaVsWAOq+ubeVCk8s="
                     *         },
                     *         "body": {
                     *           "id": "019bc0fd-91fb-7207-aa07-c9b486960001",
                     *           "type": "webhook_endpoint.test",
                     *           "created_at": "2026-01-15T09:30:02.107544Z",
                     *           "resource_id": "019bc0fd-8ba2-73b4-b3b4-752715822c16",
                     *           "data": {
                     *             "id": "019bc0fd-8ba2-73b4-b3b4-752715822c16",
                     *             "url": "https://example.com/ferry",
                     *             "event_types": [
                     *               "transfer.*"
                     *             ],
                     *             "enabled": true,
                     *             "created_at": "2026-01-15T09:30:00.482193Z",
                     *             "updated_at": "2026-01-15T09:30:00.482193Z"
                     *           }
                     *         }
                     *       },
                     *       "response": {
                     *         "status": 200,
                     *         "headers": {
                     *           "date": "Thu, 15 Jan 2026 09:30:02 GMT",
                     *           "content-length": "6"
                     *         },
                     *         "body": "thanks",
                     *         "duration_ms": 45
                     *       },
                     *       "created_at": "2026-01-15T09:30:02.107544Z",
                     *       "updated_at": "2026-01-15T09:30:02.107544Z"
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
        };
    };
    addAccountMembers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "account_id": "01981b42-91c5-74d8-b36e-7f28c40d5ea1",
                 *       "members": [
                 *         {
                 *           "identity_id": "01981b42-3377-7b90-8e4c-0a5d16f3b928",
                 *           "roles": [
                 *             "AUTHORIZED_USER"
                 *           ]
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["AddAccountMembersRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "account_id": "01981b42-91c5-74d8-b36e-7f28c40d5ea1",
                     *       "members": [
                     *         {
                     *           "id": "019bc0fd-8ba2-7295-a295-602142ee384d",
                     *           "identity_id": "01981b42-3377-7b90-8e4c-0a5d16f3b928",
                     *           "roles": [
                     *             "AUTHORIZED_USER"
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AddedAccountMembers"];
                };
            };
        };
    };
    removeAccountMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-7295-a295-602142ee384d",
                     *       "account_id": "01981b42-91c5-74d8-b36e-7f28c40d5ea1",
                     *       "identity_id": "01981b42-3377-7b90-8e4c-0a5d16f3b928",
                     *       "roles": [
                     *         "FINANCIAL_ADVISOR"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["RemovedAccountMember"];
                };
            };
        };
    };
    listAccounts: {
        parameters: {
            query?: {
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Identity that owns the accounts */
                identity_id?: string;
                /** @description Identities that own the accounts (repeatable) */
                identity_ids?: string[];
                /** @description Account identifiers (repeatable) */
                ids?: string[];
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description Default CREATED_AT */
                order_by?: "CREATED_AT" | "UPDATED_AT";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
                /** @description Your own ids (repeatable) */
                ref_ids?: string[];
                /** @description updated_at eq */
                "updated_at.eq"?: string;
                /** @description updated_at gt */
                "updated_at.gt"?: string;
                /** @description updated_at gte */
                "updated_at.gte"?: string;
                /** @description updated_at lt */
                "updated_at.lt"?: string;
                /** @description updated_at lte */
                "updated_at.lte"?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "created_at": "2026-01-15T09:30:00.482193Z",
                     *           "updated_at": "2026-01-15T09:30:00.482193Z",
                     *           "id": "01981b42-91c5-74d8-b36e-7f28c40d5ea1",
                     *           "identity_id": "01981b42-3377-7b90-8e4c-0a5d16f3b928",
                     *           "type": "BROKERAGE",
                     *           "members": []
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AccountList"];
                };
            };
        };
    };
    createAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "account": {
                 *         "identity_id": "01981b42-3377-7b90-8e4c-0a5d16f3b928",
                 *         "members": [
                 *           {
                 *             "identity_id": "01981b42-3377-7b90-8e4c-0a5d16f3b928",
                 *             "roles": [
                 *               "AUTHORIZED_USER"
                 *             ]
                 *           }
                 *         ],
                 *         "ref_id": "account-0007"
                 *       },
                 *       "create_profile": true
                 *     }
                 */
                "application/json": components["schemas"]["CreateAccountRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "id": "01981b42-91c5-74d8-b36e-7f28c40d5ea1",
                     *       "identity_id": "01981b42-3377-7b90-8e4c-0a5d16f3b928",
                     *       "type": "BROKERAGE",
                     *       "members": [
                     *         {
                     *           "id": "019bc0fd-8ba2-7295-a295-602142ee384d",
                     *           "identity_id": "01981b42-3377-7b90-8e4c-0a5d16f3b928",
                     *           "roles": [
                     *             "AUTHORIZED_USER"
                     *           ]
                     *         }
                     *       ],
                     *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "ref_id": "account-0007"
                     *     }
                     */
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    getAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "id": "01981b42-91c5-74d8-b36e-7f28c40d5ea1",
                     *       "identity_id": "01981b42-3377-7b90-8e4c-0a5d16f3b928",
                     *       "type": "BROKERAGE",
                     *       "members": []
                     *     }
                     */
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    updateAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "description": "Long-term savings"
                 *     }
                 */
                "application/json": components["schemas"]["UpdateAccountRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:02.107544Z",
                     *       "id": "01981b42-91c5-74d8-b36e-7f28c40d5ea1",
                     *       "identity_id": "01981b42-3377-7b90-8e4c-0a5d16f3b928",
                     *       "type": "BROKERAGE",
                     *       "members": [],
                     *       "description": "Long-term savings"
                     *     }
                     */
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    listIdentities: {
        parameters: {
            query?: {
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Identity identifiers (repeatable) */
                ids?: string[];
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description Default CREATED_AT */
                order_by?: "CREATED_AT" | "UPDATED_AT";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
                /** @description Your own ids (repeatable) */
                ref_ids?: string[];
                /** @description updated_at eq */
                "updated_at.eq"?: string;
                /** @description updated_at gt */
                "updated_at.gt"?: string;
                /** @description updated_at gte */
                "updated_at.gte"?: string;
                /** @description updated_at lt */
                "updated_at.lt"?: string;
                /** @description updated_at lte */
                "updated_at.lte"?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "created_at": "2026-01-15T09:30:00.482193Z",
                     *           "updated_at": "2026-01-15T09:30:00.482193Z",
                     *           "id": "01981b42-3377-7b90-8e4c-0a5d16f3b928",
                     *           "type": "PERSON",
                     *           "status": "APPROVED",
                     *           "person_details": {
                     *             "first_name": "Grace",
                     *             "last_name": "Hopper"
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["IdentityList"];
                };
            };
        };
    };
    createIdentity: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "person_details": {
                 *         "first_name": "Grace",
                 *         "last_name": "Hopper"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CreateIdentityRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "id": "01981b42-3377-7b90-8e4c-0a5d16f3b928",
                     *       "type": "PERSON",
                     *       "status": "APPROVED",
                     *       "person_details": {
                     *         "first_name": "Grace",
                     *         "last_name": "Hopper"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Identity"];
                };
            };
        };
    };
    getIdentity: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "id": "01981b42-3377-7b90-8e4c-0a5d16f3b928",
                     *       "type": "PERSON",
                     *       "status": "APPROVED",
                     *       "person_details": {
                     *         "first_name": "Grace",
                     *         "last_name": "Hopper"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Identity"];
                };
            };
        };
    };
    updateIdentity: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "person_details": {
                 *         "first_name": "Grace",
                 *         "last_name": "Murray"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["UpdateIdentityRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:02.107544Z",
                     *       "id": "01981b42-3377-7b90-8e4c-0a5d16f3b928",
                     *       "type": "PERSON",
                     *       "status": "APPROVED",
                     *       "person_details": {
                     *         "first_name": "Grace",
                     *         "last_name": "Murray"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Identity"];
                };
            };
        };
    };
    getMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "kind": "CLIENT",
                     *       "id": "ferry_b4347fb43a4afb2b9f86baf8",
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "scopes": [
                     *         "funding:read_profile",
                     *         "transfer:read_transfer"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Me"];
                };
            };
        };
    };
    listAccountEntries: {
        parameters: {
            query: {
                /** @description Asset */
                asset: string;
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
            };
            header?: never;
            path: {
                /** @description Account of the service */
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "at": "2026-01-15T09:30:00.482193Z",
                     *           "asset": "USD",
                     *           "account": "clearing:wire",
                     *           "direction": "DEBIT",
                     *           "amount": "1250",
                     *           "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *           "cause": {
                     *             "type": "TRANSFER",
                     *             "id": "019bc0fd-8ba2-73e1-93e1-4c7d20f8a916",
                     *             "kind": "WIRE_DEPOSIT"
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["SystemEntryList"];
                };
            };
        };
    };
    listOperatorApprovals: {
        parameters: {
            query?: {
                /** @description Only these actions (repeatable) */
                actions?: ("journal_entry.book" | "withdrawal.resolve" | "withdrawal.cancel" | "suspense_deposit.credit" | "fiat_account.approve" | "fiat_account.reject" | "withdrawal.release" | "withdrawal.refuse" | "own_withdrawal.release" | "own_withdrawal.refuse" | "policy.change" | "own_policy.change" | "own_destination.list" | "freeze.create" | "freeze.lift" | "client.create" | "client.change" | "client.disable" | "client.enable" | "client.add_credentials" | "client.remove_credential" | "person.create" | "person.change" | "person.link" | "own_person.create" | "own_person.change" | "own_person.link")[];
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Only these requests (repeatable) */
                ids?: string[];
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
                /** @description Only with one of these statuses (repeatable) */
                statuses?: ("PENDING" | "EXECUTED" | "FAILED" | "REJECTED" | "EXPIRED")[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019bc0fd-8ba2-7a30-b1c5-94e6f20d7a81",
                     *           "action": "journal_entry.book",
                     *           "level": "OPERATOR",
                     *           "status": "PENDING",
                     *           "summary": "Book a journal entry: WRITE_OFF of 12.5 USD. Goodwill after the outage.",
                     *           "proposal": {
                     *             "asset": "USD",
                     *             "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *             "amount": "12.5",
                     *             "kind": "WRITE_OFF",
                     *             "ref_id": "goodwill-0001",
                     *             "reason": "Goodwill after the outage.",
                     *             "reference": "CASE-1042"
                     *           },
                     *           "digest": "n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg",
                     *           "maker": {
                     *             "kind": "CLIENT",
                     *             "id": "f81f7a43-8c4e-4a0c-9e0f-5a3b8f0c1d27",
                     *             "customer_id": "01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *             "name": "back office",
                     *             "from": "192.0.2.10",
                     *             "request_id": "019bc0fd-8ba2-7c11-8d02-3b6f0a91e5d4"
                     *           },
                     *           "quorum": 1,
                     *           "votes": [],
                     *           "ref_id": "goodwill-0001",
                     *           "created_at": "2026-01-15T09:30:00.482193Z",
                     *           "updated_at": "2026-01-15T09:30:00.482193Z",
                     *           "expires_at": "2026-01-22T09:30:00.482193Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ApprovalList"];
                };
            };
        };
    };
    getOperatorApproval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-7a30-b1c5-94e6f20d7a81",
                     *       "action": "journal_entry.book",
                     *       "level": "OPERATOR",
                     *       "status": "PENDING",
                     *       "summary": "Book a journal entry: WRITE_OFF of 12.5 USD. Goodwill after the outage.",
                     *       "proposal": {
                     *         "asset": "USD",
                     *         "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *         "amount": "12.5",
                     *         "kind": "WRITE_OFF",
                     *         "ref_id": "goodwill-0001",
                     *         "reason": "Goodwill after the outage.",
                     *         "reference": "CASE-1042"
                     *       },
                     *       "digest": "n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg",
                     *       "maker": {
                     *         "kind": "CLIENT",
                     *         "id": "f81f7a43-8c4e-4a0c-9e0f-5a3b8f0c1d27",
                     *         "customer_id": "01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *         "name": "back office",
                     *         "from": "192.0.2.10",
                     *         "request_id": "019bc0fd-8ba2-7c11-8d02-3b6f0a91e5d4"
                     *       },
                     *       "quorum": 1,
                     *       "votes": [],
                     *       "ref_id": "goodwill-0001",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "expires_at": "2026-01-22T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Approval"];
                };
            };
        };
    };
    approveOperatorApproval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "digest": "n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg",
                 *       "reason": "Checked with support."
                 *     }
                 */
                "application/json": {
                    /** @description The digest of the request that you have seen */
                    digest: string;
                    /** @description Why */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-7a30-b1c5-94e6f20d7a81",
                     *       "action": "journal_entry.book",
                     *       "level": "OPERATOR",
                     *       "status": "EXECUTED",
                     *       "summary": "Book a journal entry: WRITE_OFF of 12.5 USD. Goodwill after the outage.",
                     *       "proposal": {
                     *         "asset": "USD",
                     *         "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *         "amount": "12.5",
                     *         "kind": "WRITE_OFF",
                     *         "ref_id": "goodwill-0001",
                     *         "reason": "Goodwill after the outage.",
                     *         "reference": "CASE-1042"
                     *       },
                     *       "digest": "n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg",
                     *       "maker": {
                     *         "kind": "CLIENT",
                     *         "id": "f81f7a43-8c4e-4a0c-9e0f-5a3b8f0c1d27",
                     *         "customer_id": "01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *         "name": "back office",
                     *         "from": "192.0.2.10",
                     *         "request_id": "019bc0fd-8ba2-7c11-8d02-3b6f0a91e5d4"
                     *       },
                     *       "quorum": 1,
                     *       "votes": [
                     *         {
                     *           "decision": "APPROVED",
                     *           "by": {
                     *             "kind": "CLIENT",
                     *             "id": "2c9b1e7d-5f60-4d3a-b8a1-7e4f92d0c653",
                     *             "customer_id": "01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *             "name": "controller",
                     *             "from": "192.0.2.11",
                     *             "request_id": "019bc0fd-8ba2-7c12-9a4e-60d1c8f27b35"
                     *           },
                     *           "created_at": "2026-01-15T09:30:02.107544Z",
                     *           "reason": "Checked with support."
                     *         }
                     *       ],
                     *       "ref_id": "goodwill-0001",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:02.107544Z",
                     *       "expires_at": "2026-01-22T09:30:00.482193Z",
                     *       "result": {
                     *         "type": "journal_entry",
                     *         "id": "019bc0fd-8ba2-74e7-a2c1-5d3fe8b06a94"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Approval"];
                };
            };
        };
    };
    claimOperatorApproval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "approval_id": "019bc0fd-8ba2-7a30-b1c5-94e6f20d7a81",
                     *       "client_id": "ferry_b4347fb43a4afb2b9f86baf8",
                     *       "secret_id": "019bc0fd-8ba2-7e91-9b3d-7c1f5a20d684",
                     *       "client_secret": "ferry_secret_EXAMPLE-f3b1c0de9a8d7c6b5a493827160f5e4d"
                     *     }
                     */
                    "application/json": components["schemas"]["Claim"];
                };
            };
        };
    };
    rejectOperatorApproval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "digest": "n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg",
                 *       "reason": "Checked with support."
                 *     }
                 */
                "application/json": {
                    /** @description The digest of the request that you have seen */
                    digest: string;
                    /** @description Why */
                    reason: string;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-7a30-b1c5-94e6f20d7a81",
                     *       "action": "journal_entry.book",
                     *       "level": "OPERATOR",
                     *       "status": "REJECTED",
                     *       "summary": "Book a journal entry: WRITE_OFF of 12.5 USD. Goodwill after the outage.",
                     *       "proposal": {
                     *         "asset": "USD",
                     *         "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *         "amount": "12.5",
                     *         "kind": "WRITE_OFF",
                     *         "ref_id": "goodwill-0001",
                     *         "reason": "Goodwill after the outage.",
                     *         "reference": "CASE-1042"
                     *       },
                     *       "digest": "n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg",
                     *       "maker": {
                     *         "kind": "CLIENT",
                     *         "id": "f81f7a43-8c4e-4a0c-9e0f-5a3b8f0c1d27",
                     *         "customer_id": "01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *         "name": "back office",
                     *         "from": "192.0.2.10",
                     *         "request_id": "019bc0fd-8ba2-7c11-8d02-3b6f0a91e5d4"
                     *       },
                     *       "quorum": 1,
                     *       "votes": [
                     *         {
                     *           "decision": "REJECTED",
                     *           "by": {
                     *             "kind": "CLIENT",
                     *             "id": "2c9b1e7d-5f60-4d3a-b8a1-7e4f92d0c653",
                     *             "customer_id": "01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *             "name": "controller",
                     *             "from": "192.0.2.11",
                     *             "request_id": "019bc0fd-8ba2-7c12-9a4e-60d1c8f27b35"
                     *           },
                     *           "created_at": "2026-01-15T09:30:02.107544Z",
                     *           "reason": "Checked with support."
                     *         }
                     *       ],
                     *       "ref_id": "goodwill-0001",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:02.107544Z",
                     *       "expires_at": "2026-01-22T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Approval"];
                };
            };
        };
    };
    listOperatorAuditLog: {
        parameters: {
            query?: {
                /** @description Only these actions, such as fiat_account.* (repeatable) */
                actions?: string[];
                /** @description Only of these clients, people, workers or users (repeatable) */
                actor_ids?: string[];
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Only of this customer */
                customer_id?: string;
                /** @description Only these entries (repeatable) */
                ids?: string[];
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
                /** @description Only of these resources (repeatable) */
                resource_ids?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019bc0fd-8ba2-7b55-a0d3-6c1f94e80001",
                     *           "action": "profile.created",
                     *           "resource_type": "profile",
                     *           "resource_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *           "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *           "outcome": "DONE",
                     *           "actor": {
                     *             "kind": "CLIENT",
                     *             "id": "f81f7a43-8c4e-4a0c-9e0f-5a3b8f0c1d27",
                     *             "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *             "name": "back office",
                     *             "from": "192.0.2.10",
                     *             "request_id": "019bc0fd-8ba2-7c11-8d02-3b6f0a91e5d4"
                     *           },
                     *           "after": {
                     *             "id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *             "nickname": "Treasury",
                     *             "type": "DEFAULT",
                     *             "description": "Where customers are paid from",
                     *             "status": "ACTIVE",
                     *             "created_at": "2026-01-15T09:30:00.482193Z",
                     *             "updated_at": "2026-01-15T09:30:00.482193Z"
                     *           },
                     *           "created_at": "2026-01-15T09:30:00.482193Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AuditList"];
                };
            };
        };
    };
    listClients: {
        parameters: {
            query?: {
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Of this customer */
                customer_id?: string;
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
                /** @description In these statuses (repeatable) */
                statuses?: ("ACTIVE" | "DISABLED")[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "client_id": "ferry_b4347fb43a4afb2b9f86baf8",
                     *           "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *           "name": "back office",
                     *           "scopes": [
                     *             "funding:read_profile",
                     *             "transfer:read_transfer"
                     *           ],
                     *           "created_at": "2026-01-15T09:30:00.482193Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ClientList"];
                };
            };
        };
    };
    createClient: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                 *       "name": "back office",
                 *       "scopes": [
                 *         "funding:read_profile",
                 *         "transfer:read_transfer"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["CreateClientRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "client_id": "ferry_b4347fb43a4afb2b9f86baf8",
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "name": "back office",
                     *       "scopes": [
                     *         "funding:read_profile",
                     *         "transfer:read_transfer"
                     *       ],
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "client_secret": "ferry_secret_EXAMPLE-f3b1c0de9a8d7c6b5a493827160f5e4d"
                     *     }
                     */
                    "application/json": components["schemas"]["CreatedClient"];
                };
            };
        };
    };
    getClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier of the client */
                client_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "client_id": "ferry_b4347fb43a4afb2b9f86baf8",
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "name": "back office",
                     *       "scopes": [
                     *         "funding:read_profile",
                     *         "transfer:read_transfer"
                     *       ],
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "credentials": [
                     *         {
                     *           "id": "019bc0fd-8ba2-7e91-9b3d-7c1f5a20d684",
                     *           "type": "SECRET",
                     *           "created_at": "2026-01-15T09:30:00.482193Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ClientDetails"];
                };
            };
        };
    };
    changeClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier of the client */
                client_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "scopes": [
                 *         "funding:read_profile"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["ChangeClientRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "client_id": "ferry_b4347fb43a4afb2b9f86baf8",
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "name": "back office",
                     *       "scopes": [
                     *         "funding:read_profile"
                     *       ],
                     *       "created_at": "2026-01-15T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["OAuthClient"];
                };
            };
        };
    };
    addClientCredentials: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier of the client */
                client_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["AddCredentialsRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "client_id": "ferry_b4347fb43a4afb2b9f86baf8",
                     *       "credential_ids": [
                     *         "019bc0fd-8ba2-7e91-9b3d-7c1f5a20d684"
                     *       ],
                     *       "client_secret": "ferry_secret_EXAMPLE-f3b1c0de9a8d7c6b5a493827160f5e4d"
                     *     }
                     */
                    "application/json": components["schemas"]["ClientCredentials"];
                };
            };
        };
    };
    removeClientCredential: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier of the client */
                client_id: string;
                /** @description Id of a secret, or `kid` of a key */
                credential_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "client_id": "ferry_b4347fb43a4afb2b9f86baf8",
                     *       "credential_ids": [
                     *         "019bc0fd-8ba2-7e91-9b3d-7c1f5a20d684"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ClientCredentials"];
                };
            };
        };
    };
    disableClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier of the client */
                client_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "client_id": "ferry_b4347fb43a4afb2b9f86baf8",
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "name": "back office",
                     *       "scopes": [
                     *         "funding:read_profile",
                     *         "transfer:read_transfer"
                     *       ],
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "disabled_at": "2026-01-15T09:30:02.107544Z"
                     *     }
                     */
                    "application/json": components["schemas"]["OAuthClient"];
                };
            };
        };
    };
    enableClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier of the client */
                client_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "client_id": "ferry_b4347fb43a4afb2b9f86baf8",
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "name": "back office",
                     *       "scopes": [
                     *         "funding:read_profile",
                     *         "transfer:read_transfer"
                     *       ],
                     *       "created_at": "2026-01-15T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["OAuthClient"];
                };
            };
        };
    };
    listFiatAccountsForReview: {
        parameters: {
            query?: {
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Only those of these customers (repeatable) */
                customer_ids?: string[];
                /** @description Only these (repeatable) */
                ids?: string[];
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description Default CREATED_AT */
                order_by?: "CREATED_AT" | "UPDATED_AT";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
                /** @description Only those in these states; default PENDING (repeatable) */
                statuses?: ("PENDING" | "APPROVED" | "REJECTED")[];
                /** @description updated_at eq */
                "updated_at.eq"?: string;
                /** @description updated_at gt */
                "updated_at.gt"?: string;
                /** @description updated_at gte */
                "updated_at.gte"?: string;
                /** @description updated_at lt */
                "updated_at.lt"?: string;
                /** @description updated_at lte */
                "updated_at.lte"?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "01981b41-5e08-7c6f-a1d4-92b7e35f0c86",
                     *           "status": "PENDING",
                     *           "created_at": "2026-01-15T09:30:00.482193Z",
                     *           "updated_at": "2026-01-15T09:30:00.482193Z",
                     *           "fiat_account_owner": {
                     *             "person_details": {
                     *               "first_name": "Ada",
                     *               "last_name": "Lovelace"
                     *             }
                     *           },
                     *           "fiat_network_instructions": {
                     *             "wire": {
                     *               "account_number": "****6789",
                     *               "routing_details": {
                     *                 "routing_number_type": "ABA",
                     *                 "routing_number": "021000021",
                     *                 "bank_name": "First Example Bank",
                     *                 "bank_address": {
                     *                   "country": "US",
                     *                   "address1": "1 Bank Street",
                     *                   "city": "New York",
                     *                   "province": "NY"
                     *                 }
                     *               },
                     *               "fiat_account_owner_address": {
                     *                 "country": "Atlantis",
                     *                 "address1": "456 Main Street",
                     *                 "city": "New York",
                     *                 "province": "NY",
                     *                 "zip_code": "10001"
                     *               }
                     *             }
                     *           },
                     *           "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *           "findings": [
                     *             {
                     *               "verdict": "ASK",
                     *               "reason": "The country of the owner is not an ISO 3166 code."
                     *             }
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["FiatAccountReviewQueue"];
                };
            };
        };
    };
    viewFiatAccountForReview: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01981b41-5e08-7c6f-a1d4-92b7e35f0c86",
                     *       "status": "PENDING",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "fiat_account_owner": {
                     *         "person_details": {
                     *           "first_name": "Ada",
                     *           "last_name": "Lovelace"
                     *         }
                     *       },
                     *       "fiat_network_instructions": {
                     *         "wire": {
                     *           "account_number": "000123456789",
                     *           "routing_details": {
                     *             "routing_number_type": "ABA",
                     *             "routing_number": "021000021",
                     *             "bank_name": "First Example Bank",
                     *             "bank_address": {
                     *               "country": "US",
                     *               "address1": "1 Bank Street",
                     *               "city": "New York",
                     *               "province": "NY"
                     *             }
                     *           },
                     *           "fiat_account_owner_address": {
                     *             "country": "Atlantis",
                     *             "address1": "456 Main Street",
                     *             "city": "New York",
                     *             "province": "NY",
                     *             "zip_code": "10001"
                     *           }
                     *         }
                     *       },
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "findings": [
                     *         {
                     *           "verdict": "ASK",
                     *           "reason": "The country of the owner is not an ISO 3166 code."
                     *         }
                     *       ],
                     *       "digest": "q3v0bXkD2o0c7m8iJY5W1uRr9sT4eLhZ6yFgNnAaB1E"
                     *     }
                     */
                    "application/json": components["schemas"]["FiatAccountView"];
                };
            };
        };
    };
    approveFiatAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "digest": "q3v0bXkD2o0c7m8iJY5W1uRr9sT4eLhZ6yFgNnAaB1E",
                 *       "reason": "The bank has confirmed the owner."
                 *     }
                 */
                "application/json": components["schemas"]["ApproveRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01981b41-5e08-7c6f-a1d4-92b7e35f0c86",
                     *       "status": "APPROVED",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:02.107544Z",
                     *       "fiat_account_owner": {
                     *         "person_details": {
                     *           "first_name": "Ada",
                     *           "last_name": "Lovelace"
                     *         }
                     *       },
                     *       "fiat_network_instructions": {
                     *         "wire": {
                     *           "account_number": "****6789",
                     *           "routing_details": {
                     *             "routing_number_type": "ABA",
                     *             "routing_number": "021000021",
                     *             "bank_name": "First Example Bank",
                     *             "bank_address": {
                     *               "country": "US",
                     *               "address1": "1 Bank Street",
                     *               "city": "New York",
                     *               "province": "NY"
                     *             }
                     *           },
                     *           "fiat_account_owner_address": {
                     *             "country": "US",
                     *             "address1": "456 Main Street",
                     *             "city": "New York",
                     *             "province": "NY",
                     *             "zip_code": "10001"
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["FiatAccount"];
                };
            };
        };
    };
    rejectFiatAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "digest": "q3v0bXkD2o0c7m8iJY5W1uRr9sT4eLhZ6yFgNnAaB1E",
                 *       "reason": "The bank has no such account."
                 *     }
                 */
                "application/json": components["schemas"]["RejectRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01981b41-5e08-7c6f-a1d4-92b7e35f0c86",
                     *       "status": "REJECTED",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:02.107544Z",
                     *       "fiat_account_owner": {
                     *         "person_details": {
                     *           "first_name": "Ada",
                     *           "last_name": "Lovelace"
                     *         }
                     *       },
                     *       "fiat_network_instructions": {
                     *         "wire": {
                     *           "account_number": "****6789",
                     *           "routing_details": {
                     *             "routing_number_type": "ABA",
                     *             "routing_number": "021000021",
                     *             "bank_name": "First Example Bank",
                     *             "bank_address": {
                     *               "country": "US",
                     *               "address1": "1 Bank Street",
                     *               "city": "New York",
                     *               "province": "NY"
                     *             }
                     *           },
                     *           "fiat_account_owner_address": {
                     *             "country": "US",
                     *             "address1": "456 Main Street",
                     *             "city": "New York",
                     *             "province": "NY",
                     *             "zip_code": "10001"
                     *           }
                     *         }
                     *       },
                     *       "reason": "The bank has no such account."
                     *     }
                     */
                    "application/json": components["schemas"]["FiatAccount"];
                };
            };
        };
    };
    listFiatAccountViews: {
        parameters: {
            query?: {
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
            };
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019bc0fd-8ba2-7e21-9c40-2f64b1d05a37",
                     *           "customer_id": "01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *           "client_id": "ferry_5f1c09e2a7b84d3610c2e9f4",
                     *           "digest": "q3v0bXkD2o0c7m8iJY5W1uRr9sT4eLhZ6yFgNnAaB1E",
                     *           "created_at": "2026-01-15T09:30:02.107544Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["FiatAccountViewList"];
                };
            };
        };
    };
    listFreezes: {
        parameters: {
            query?: {
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
                /** @description Of these scopes (repeatable) */
                scopes?: ("PLATFORM" | "CUSTOMER" | "IDENTITY" | "PROFILE")[];
                /** @description In these statuses (repeatable) */
                statuses?: ("IN_FORCE" | "LIFTED")[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019bc0fd-8ba2-7c55-8d10-5f0b7a3e9c21",
                     *           "scope": "PROFILE",
                     *           "subject_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *           "status": "IN_FORCE",
                     *           "reason": "Credentials of the customer are for sale: CASE-2207.",
                     *           "frozen_by": "client:01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *           "created_at": "2026-01-15T09:30:00.482193Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["FreezeList"];
                };
            };
        };
    };
    createFreeze: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "scope": "PROFILE",
                 *       "subject_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                 *       "reason": "Credentials of the customer are for sale: CASE-2207."
                 *     }
                 */
                "application/json": components["schemas"]["FreezeRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-7c55-8d10-5f0b7a3e9c21",
                     *       "scope": "PROFILE",
                     *       "subject_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "status": "IN_FORCE",
                     *       "reason": "Credentials of the customer are for sale: CASE-2207.",
                     *       "frozen_by": "client:01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "in_force": true,
                     *       "submissions_under_way": 0
                     *     }
                     */
                    "application/json": components["schemas"]["FrozenNow"];
                };
            };
        };
    };
    getFreeze: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-7c55-8d10-5f0b7a3e9c21",
                     *       "scope": "PROFILE",
                     *       "subject_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "status": "IN_FORCE",
                     *       "reason": "Credentials of the customer are for sale: CASE-2207.",
                     *       "frozen_by": "client:01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *       "created_at": "2026-01-15T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Freeze"];
                };
            };
        };
    };
    liftFreeze: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "reason": "New credentials were issued: CASE-2207."
                 *     }
                 */
                "application/json": components["schemas"]["LiftFreezeRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-7c55-8d10-5f0b7a3e9c21",
                     *       "scope": "PROFILE",
                     *       "subject_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "status": "LIFTED",
                     *       "reason": "Credentials of the customer are for sale: CASE-2207.",
                     *       "frozen_by": "client:01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "lifted_by": "client:01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *       "lifted_because": "New credentials were issued: CASE-2207.",
                     *       "lifted_at": "2026-01-15T09:30:02.107544Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Freeze"];
                };
            };
        };
    };
    listJournalEntries: {
        parameters: {
            query?: {
                /** @description That moved these assets (repeatable) */
                assets?: string[];
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description With these ids (repeatable) */
                ids?: string[];
                /** @description Of these kinds (repeatable) */
                kinds?: ("OPENING_BALANCE" | "MANUAL_DEPOSIT" | "TREASURY_FUNDING" | "TREASURY_PAYOUT" | "SWEEP" | "WRITE_OFF" | "SUSPENSE_CREDIT" | "SUSPENSE_RETURN" | "WITHDRAWAL_RETURN" | "CORRECTION" | "REVERSAL" | "WITHDRAWAL_RESOLUTION" | "WITHDRAWAL_CANCELLATION")[];
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
                /** @description That changed balances of these profiles (repeatable) */
                profile_ids?: string[];
                /** @description Booked by the caller with these ref_ids (repeatable) */
                ref_ids?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019bc0fd-8ba2-74c1-84c1-9d0f6a2b7e35",
                     *           "kind": "WRITE_OFF",
                     *           "actor": "ferry_b4347fb43a4afb2b9f86baf8",
                     *           "ref_id": "write-off-0001",
                     *           "reason": "Remainder of a closed profile.",
                     *           "reference": "CASE-1042",
                     *           "note": "Remainder of your closed profile",
                     *           "created_at": "2026-01-15T09:30:00.482193Z",
                     *           "asset": "USD",
                     *           "amount": "0.5",
                     *           "profile_ids": [
                     *             "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40"
                     *           ],
                     *           "postings": [
                     *             {
                     *               "asset": "USD",
                     *               "amount": "0.5",
                     *               "from": {
                     *                 "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40"
                     *               },
                     *               "to": {
                     *                 "account": "treasury"
                     *               }
                     *             }
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["JournalEntryList"];
                };
            };
        };
    };
    bookJournalEntry: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "kind": "WRITE_OFF",
                 *       "ref_id": "write-off-0001",
                 *       "reason": "Remainder of a closed profile.",
                 *       "reference": "CASE-1042",
                 *       "note": "Remainder of your closed profile",
                 *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                 *       "asset": "USD",
                 *       "amount": "0.5"
                 *     }
                 */
                "application/json": components["schemas"]["JournalEntryRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-74c1-84c1-9d0f6a2b7e35",
                     *       "kind": "WRITE_OFF",
                     *       "actor": "ferry_b4347fb43a4afb2b9f86baf8",
                     *       "ref_id": "write-off-0001",
                     *       "reason": "Remainder of a closed profile.",
                     *       "reference": "CASE-1042",
                     *       "note": "Remainder of your closed profile",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "asset": "USD",
                     *       "amount": "0.5",
                     *       "profile_ids": [
                     *         "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40"
                     *       ],
                     *       "postings": [
                     *         {
                     *           "asset": "USD",
                     *           "amount": "0.5",
                     *           "from": {
                     *             "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40"
                     *           },
                     *           "to": {
                     *             "account": "treasury"
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["JournalEntry"];
                };
            };
        };
    };
    getJournalEntry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-74c1-84c1-9d0f6a2b7e35",
                     *       "kind": "WRITE_OFF",
                     *       "actor": "ferry_b4347fb43a4afb2b9f86baf8",
                     *       "ref_id": "write-off-0001",
                     *       "reason": "Remainder of a closed profile.",
                     *       "reference": "CASE-1042",
                     *       "note": "Remainder of your closed profile",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "asset": "USD",
                     *       "amount": "0.5",
                     *       "profile_ids": [
                     *         "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40"
                     *       ],
                     *       "postings": [
                     *         {
                     *           "asset": "USD",
                     *           "amount": "0.5",
                     *           "from": {
                     *             "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40"
                     *           },
                     *           "to": {
                     *             "account": "treasury"
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["JournalEntry"];
                };
            };
        };
    };
    listPolicies: {
        parameters: {
            query?: {
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description With these ids (repeatable) */
                ids?: string[];
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019bc0fd-8ba2-7b1d-9e02-6c1f4d8a7b35",
                     *           "name": "wires",
                     *           "version": 1,
                     *           "enabled": true,
                     *           "applies_to": {
                     *             "rails": [
                     *               "wire"
                     *             ]
                     *           },
                     *           "rules": [
                     *             {
                     *               "type": "amount_limit",
                     *               "name": "one payment",
                     *               "asset": "USD",
                     *               "max": "250000"
                     *             },
                     *             {
                     *               "type": "velocity",
                     *               "name": "one day",
                     *               "asset": "USD",
                     *               "max": "1000000",
                     *               "window": "DAY",
                     *               "per": "CUSTOMER"
                     *             },
                     *             {
                     *               "type": "approval",
                     *               "name": "large payments",
                     *               "asset": "USD",
                     *               "above": "50000"
                     *             }
                     *           ],
                     *           "changed_by": "client:01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *           "reason": "Agreed with the bank: CASE-2290.",
                     *           "created_at": "2026-01-15T09:30:00.482193Z",
                     *           "updated_at": "2026-01-15T09:30:00.482193Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["PolicyList"];
                };
            };
        };
    };
    changePolicy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "wires",
                 *       "enabled": true,
                 *       "applies_to": {
                 *         "rails": [
                 *           "wire"
                 *         ]
                 *       },
                 *       "rules": [
                 *         {
                 *           "type": "amount_limit",
                 *           "name": "one payment",
                 *           "asset": "USD",
                 *           "max": "250000"
                 *         },
                 *         {
                 *           "type": "velocity",
                 *           "name": "one day",
                 *           "asset": "USD",
                 *           "max": "1000000",
                 *           "window": "DAY",
                 *           "per": "CUSTOMER"
                 *         },
                 *         {
                 *           "type": "approval",
                 *           "name": "large payments",
                 *           "asset": "USD",
                 *           "above": "50000"
                 *         }
                 *       ],
                 *       "reason": "Agreed with the bank: CASE-2290."
                 *     }
                 */
                "application/json": components["schemas"]["PolicyRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-7b1d-9e02-6c1f4d8a7b35",
                     *       "name": "wires",
                     *       "version": 1,
                     *       "enabled": true,
                     *       "applies_to": {
                     *         "rails": [
                     *           "wire"
                     *         ]
                     *       },
                     *       "rules": [
                     *         {
                     *           "type": "amount_limit",
                     *           "name": "one payment",
                     *           "asset": "USD",
                     *           "max": "250000"
                     *         },
                     *         {
                     *           "type": "velocity",
                     *           "name": "one day",
                     *           "asset": "USD",
                     *           "max": "1000000",
                     *           "window": "DAY",
                     *           "per": "CUSTOMER"
                     *         },
                     *         {
                     *           "type": "approval",
                     *           "name": "large payments",
                     *           "asset": "USD",
                     *           "above": "50000"
                     *         }
                     *       ],
                     *       "changed_by": "client:01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *       "reason": "Agreed with the bank: CASE-2290.",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Policy"];
                };
            };
        };
    };
    getPolicy: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-7b1d-9e02-6c1f4d8a7b35",
                     *       "name": "wires",
                     *       "version": 1,
                     *       "enabled": true,
                     *       "applies_to": {
                     *         "rails": [
                     *           "wire"
                     *         ]
                     *       },
                     *       "rules": [
                     *         {
                     *           "type": "amount_limit",
                     *           "name": "one payment",
                     *           "asset": "USD",
                     *           "max": "250000"
                     *         },
                     *         {
                     *           "type": "velocity",
                     *           "name": "one day",
                     *           "asset": "USD",
                     *           "max": "1000000",
                     *           "window": "DAY",
                     *           "per": "CUSTOMER"
                     *         },
                     *         {
                     *           "type": "approval",
                     *           "name": "large payments",
                     *           "asset": "USD",
                     *           "above": "50000"
                     *         }
                     *       ],
                     *       "changed_by": "client:01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *       "reason": "Agreed with the bank: CASE-2290.",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Policy"];
                };
            };
        };
    };
    listPolicyVersions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019bc0fd-8ba2-7b1d-9e02-6c1f4d8a7b35",
                     *           "name": "wires",
                     *           "version": 1,
                     *           "enabled": true,
                     *           "applies_to": {
                     *             "rails": [
                     *               "wire"
                     *             ]
                     *           },
                     *           "rules": [
                     *             {
                     *               "type": "amount_limit",
                     *               "name": "one payment",
                     *               "asset": "USD",
                     *               "max": "250000"
                     *             },
                     *             {
                     *               "type": "velocity",
                     *               "name": "one day",
                     *               "asset": "USD",
                     *               "max": "1000000",
                     *               "window": "DAY",
                     *               "per": "CUSTOMER"
                     *             },
                     *             {
                     *               "type": "approval",
                     *               "name": "large payments",
                     *               "asset": "USD",
                     *               "above": "50000"
                     *             }
                     *           ],
                     *           "changed_by": "client:01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *           "reason": "Agreed with the bank: CASE-2290.",
                     *           "created_at": "2026-01-15T09:30:00.482193Z",
                     *           "updated_at": "2026-01-15T09:30:00.482193Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["PolicyVersionList"];
                };
            };
        };
    };
    dryRunPolicy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "applies_to": {
                 *         "rails": [
                 *           "cubix"
                 *         ]
                 *       },
                 *       "rules": [
                 *         {
                 *           "type": "amount_limit",
                 *           "name": "one payment",
                 *           "asset": "USD",
                 *           "max": "250000"
                 *         },
                 *         {
                 *           "type": "velocity",
                 *           "name": "one day",
                 *           "asset": "USD",
                 *           "max": "1000000",
                 *           "window": "DAY",
                 *           "per": "CUSTOMER"
                 *         },
                 *         {
                 *           "type": "approval",
                 *           "name": "large payments",
                 *           "asset": "USD",
                 *           "above": "50000"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["PolicyDryRunRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "from": "2025-12-16T09:30:00Z",
                     *       "examined": 0,
                     *       "complete": true,
                     *       "passed": 0,
                     *       "held": 0,
                     *       "refused": 0,
                     *       "withdrawals": []
                     *     }
                     */
                    "application/json": components["schemas"]["PolicyDryRun"];
                };
            };
        };
    };
    listRailContradictions: {
        parameters: {
            query?: {
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "transfer_id": "019bc0fd-8ba2-7329-8f29-a8431be64c5f",
                     *           "rail": "BITCOIN",
                     *           "reported": "COMPLETED",
                     *           "recorded": "FAILED",
                     *           "detail": "3 confirmations on BITCOIN.",
                     *           "created_at": "2026-01-15T09:30:00.482193Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["RailContradictionList"];
                };
            };
        };
    };
    importStatement: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "account": "clearing:wire",
                 *       "format": "CSV",
                 *       "statement_id": "2026-01-15",
                 *       "content": "at,asset,direction,amount,reference\n2026-01-15,USD,CREDIT,1250.00,FT26015X7781\n"
                 *     }
                 */
                "application/json": components["schemas"]["ImportStatementRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-7512-9512-60b3d7e4f1a8",
                     *       "account": "clearing:wire",
                     *       "statement_id": "2026-01-15",
                     *       "asset": "USD",
                     *       "format": "CSV",
                     *       "line_count": 1,
                     *       "actor": "ferry_b4347fb43a4afb2b9f86baf8"
                     *     }
                     */
                    "application/json": components["schemas"]["ImportedStatement"];
                };
            };
        };
    };
    listBalanceReports: {
        parameters: {
            query: {
                /** @description `treasury` or `clearing:<rail>` */
                account: string;
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019bc0fd-8ba2-7556-8556-4afbc318a5ce",
                     *           "account": "clearing:wire",
                     *           "asset": "USD",
                     *           "at": "2026-01-15T09:30:00.482193Z",
                     *           "balance": "1250",
                     *           "reference": "2026-01-15",
                     *           "ledger_balance": "0",
                     *           "difference": "1250",
                     *           "unexplained": "0",
                     *           "actor": "ferry_b4347fb43a4afb2b9f86baf8",
                     *           "created_at": "2026-01-15T09:30:02.107544Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ReportedBalanceList"];
                };
            };
        };
    };
    reportBalance: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "account": "clearing:wire",
                 *       "asset": "USD",
                 *       "at": "2026-01-15T09:30:00.482193Z",
                 *       "balance": "1250",
                 *       "reference": "2026-01-15"
                 *     }
                 */
                "application/json": components["schemas"]["ReportBalanceRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-7556-8556-4afbc318a5ce",
                     *       "account": "clearing:wire",
                     *       "asset": "USD",
                     *       "at": "2026-01-15T09:30:00.482193Z",
                     *       "balance": "1250",
                     *       "reference": "2026-01-15",
                     *       "ledger_balance": "0",
                     *       "difference": "1250",
                     *       "unexplained": "0",
                     *       "actor": "ferry_b4347fb43a4afb2b9f86baf8",
                     *       "created_at": "2026-01-15T09:30:02.107544Z"
                     *     }
                     */
                    "application/json": components["schemas"]["ReportedBalance"];
                };
            };
        };
    };
    matchItems: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "item_ids": [
                 *         "019bc0fd-8ba2-7523-a523-17c8f0e5d29b",
                 *         "019bc0fd-8ba2-7545-8545-39eab207f4bd"
                 *       ],
                 *       "reason": "A payment and its return, both before the go-live."
                 *     }
                 */
                "application/json": components["schemas"]["MatchRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-7534-b534-28d9a1f6e3ac",
                     *       "account": "clearing:wire",
                     *       "actor": "ferry_b4347fb43a4afb2b9f86baf8",
                     *       "reason": "A payment and its return, both before the go-live.",
                     *       "created_at": "2026-01-15T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Match"];
                };
            };
        };
    };
    removeMatch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "reason": "Two different payments."
                 *     }
                 */
                "application/json": components["schemas"]["UnmatchRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-7534-b534-28d9a1f6e3ac",
                     *       "account": "clearing:wire",
                     *       "actor": "ferry_b4347fb43a4afb2b9f86baf8",
                     *       "reason": "A payment and its return, both before the go-live.",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "removed_by": "ferry_b4347fb43a4afb2b9f86baf8",
                     *       "removed_because": "Two different payments.",
                     *       "removed_at": "2026-01-15T09:30:02.107544Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Match"];
                };
            };
        };
    };
    listUnmatched: {
        parameters: {
            query: {
                /** @description `treasury` or `clearing:<rail>` */
                account: string;
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
                /** @description Default both */
                side?: "LEDGER" | "STATEMENT";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019bc0fd-8ba2-7523-a523-17c8f0e5d29b",
                     *           "side": "STATEMENT",
                     *           "account": "clearing:wire",
                     *           "asset": "USD",
                     *           "direction": "CREDIT",
                     *           "amount": "1250",
                     *           "reference": "FT26015X7781",
                     *           "since": "2026-01-15T00:00:00Z",
                     *           "imported_statement_id": "019bc0fd-8ba2-7512-9512-60b3d7e4f1a8"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ReconciliationItemList"];
                };
            };
        };
    };
    searchEverything: {
        parameters: {
            query: {
                /** @description An id, a ref_id, a transaction hash, a deposit address, a part of the name of a customer, or an amount, alone or with its asset */
                text: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "type": "TRANSFER",
                     *           "id": "019bc0fd-8ba2-7329-8f29-a8431be64c5f",
                     *           "matched": "ID",
                     *           "label": "CRYPTO_WITHDRAWAL",
                     *           "created_at": "2026-01-15T09:30:00.482193Z",
                     *           "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *           "status": "PENDING",
                     *           "asset": "BTC",
                     *           "amount": "0.05"
                     *         }
                     *       ],
                     *       "complete": true
                     *     }
                     */
                    "application/json": components["schemas"]["SearchResult"];
                };
            };
        };
    };
    getSettlementNetwork: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "obligations": [
                     *         {
                     *           "from_profile_id": "01981b40-0d91-7a53-8b27-64c0f1a97e15",
                     *           "from_customer_id": "01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *           "to_profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *           "to_customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *           "asset": "USD",
                     *           "amount": "97500",
                     *           "transactions": 1
                     *         }
                     *       ],
                     *       "settled_together": [
                     *         {
                     *           "settled_at": "2026-01-15T09:30:02.107544Z",
                     *           "transaction_ids": [
                     *             "019bc0fd-8ba2-70d2-8263-159f662f3dad",
                     *             "019bc0fd-8ba2-70d3-9264-26a0773b4ebe"
                     *           ],
                     *           "profile_ids": [
                     *             "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *             "01981b40-0d91-7a53-8b27-64c0f1a97e15"
                     *           ],
                     *           "assets": [
                     *             {
                     *               "asset": "USD",
                     *               "gross": "195000",
                     *               "net": "1200"
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "complete": true
                     *     }
                     */
                    "application/json": components["schemas"]["SettlementNetwork"];
                };
            };
        };
    };
    listSuspenseDeposits: {
        parameters: {
            query?: {
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Only these (repeatable) */
                ids?: string[];
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
                /** @description OPEN: neither credited nor returned to the sender (repeatable) */
                statuses?: ("OPEN" | "CREDITED" | "RETURNED")[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019bc0fd-8ba2-71ac-95ac-1a47de95bed8",
                     *           "rail": "wire",
                     *           "account": "sandbox",
                     *           "reference": "019bc0fd-8ba2-7171-af5a-d6c1025691f8",
                     *           "asset": "USD",
                     *           "amount": "250",
                     *           "amount_units": "25000",
                     *           "sent_to": "7K3JQ0W9XN4T",
                     *           "reason": "No profile has this address or memo.",
                     *           "created_at": "2026-01-15T09:30:00.482193Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["SuspenseDepositList"];
                };
            };
        };
    };
    creditSuspenseDeposit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40"
                 *     }
                 */
                "application/json": components["schemas"]["CreditSuspenseDepositRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "id": "019bc0fd-8ba2-70fc-88fc-6e55f42f821d",
                     *       "amount": "250",
                     *       "total": "250",
                     *       "fee": "0",
                     *       "asset": "USD",
                     *       "direction": "CREDIT",
                     *       "type": "WIRE_DEPOSIT",
                     *       "status": "COMPLETED",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "balance_asset": "USD"
                     *     }
                     */
                    "application/json": components["schemas"]["Transfer"];
                };
            };
        };
    };
    getTreasury: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "networks": [
                     *         {
                     *           "network": "ETHEREUM",
                     *           "cold_address": "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
                     *           "wallets": [
                     *             {
                     *               "asset": "ETH",
                     *               "on_chain": {
                     *                 "hot": "52.5",
                     *                 "deposit_addresses": "0.75",
                     *                 "cold": "200",
                     *                 "height": 23456789,
                     *                 "hash": "0x9b559aef7ea858608c2e554246fe4a24287e7aeeb976848df2b9a2531f4b9171",
                     *                 "observed_at": "2026-01-15T09:30:00.123456Z"
                     *               },
                     *               "ledger": {
                     *                 "hot": "53.25",
                     *                 "cold": "200",
                     *                 "network_fees": "0.0421"
                     *               },
                     *               "in_flight": {
                     *                 "arriving": "0",
                     *                 "leaving": "1.5",
                     *                 "fees_reserved": "0.00126"
                     *               },
                     *               "difference": "0",
                     *               "low_mark": "10",
                     *               "high_mark": "50",
                     *               "level": "ABOVE_HIGH",
                     *               "gas_payments": 41666
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "banks": [
                     *         {
                     *           "account": "clearing:wire",
                     *           "asset": "USD",
                     *           "balance": "1250",
                     *           "ledger_balance": "0",
                     *           "difference": "1250",
                     *           "reference": "2026-01-15",
                     *           "at": "2026-01-15T09:30:00.123456789Z"
                     *         }
                     *       ],
                     *       "alarms": [
                     *         {
                     *           "rail": "ETHEREUM",
                     *           "asset": "ETH",
                     *           "reason": "above-high-mark",
                     *           "detail": "The hot wallet has 52.5 ETH, the high mark is 50."
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Treasury"];
                };
            };
        };
    };
    getTrialBalance: {
        parameters: {
            query?: {
                /** @description Default as late as is final */
                at?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "at": "2026-01-15T09:30:00.482193Z",
                     *       "assets": [
                     *         {
                     *           "asset": "USD",
                     *           "accounts": [
                     *             {
                     *               "account": "available",
                     *               "balance": "1250"
                     *             },
                     *             {
                     *               "account": "held",
                     *               "balance": "0"
                     *             },
                     *             {
                     *               "account": "clearing:wire",
                     *               "balance": "-1250"
                     *             }
                     *           ],
                     *           "total": "0"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["TrialBalance"];
                };
            };
        };
    };
    getWebhookHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "delivering": 1,
                     *       "failing": 0,
                     *       "disabled": 0,
                     *       "items": [
                     *         {
                     *           "webhook_id": "019bc0fd-8ba2-73b4-b3b4-752715822c16",
                     *           "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *           "url": "https://example.com/ferry",
                     *           "state": "DELIVERING",
                     *           "failures": 0,
                     *           "pending": 0,
                     *           "latest": [
                     *             "DELIVERED",
                     *             "DELIVERED",
                     *             "FAILED",
                     *             "DELIVERED"
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookHealth"];
                };
            };
        };
    };
    listOpenWithdrawals: {
        parameters: {
            query?: {
                /** @description Only these withdrawals (repeatable) */
                ids?: string[];
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
                /** @description Of these rails (repeatable) */
                rails?: string[];
                /** @description In these states (repeatable) */
                states?: ("QUEUED" | "SUBMITTING" | "SUBMITTED" | "UNKNOWN")[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "transfer_id": "019bc0fd-8ba2-7329-8f29-a8431be64c5f",
                     *           "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *           "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *           "rail": "BITCOIN",
                     *           "state": "QUEUED",
                     *           "attempts": 0,
                     *           "failures": 0,
                     *           "asset": "BTC",
                     *           "amount": "0.05",
                     *           "created_at": "2026-01-15T09:30:00.482193Z",
                     *           "waits_for": "QUEUED",
                     *           "detail": "Waiting to be submitted to the BITCOIN rail."
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["OpenWithdrawalList"];
                };
            };
        };
    };
    cancelWithdrawal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "ref_id": "cancellation-0001",
                 *       "reason": "The customer called: wrong address.",
                 *       "reference": "CASE-1044"
                 *     }
                 */
                "application/json": components["schemas"]["CancelWithdrawalRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "actor": "ferry_b4347fb43a4afb2b9f86baf8",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "asset": "BTC",
                     *       "amount": "0.0501",
                     *       "profile_ids": [
                     *         "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40"
                     *       ],
                     *       "corrects": {
                     *         "type": "TRANSFER",
                     *         "id": "019bc0fd-8ba2-7329-8f29-a8431be64c5f"
                     *       },
                     *       "transfer_id": "019bc0fd-8ba2-7329-8f29-a8431be64c5f",
                     *       "postings": [],
                     *       "id": "019bc0fd-8ba2-74e9-b4e9-71d2a0c64f58",
                     *       "kind": "WITHDRAWAL_CANCELLATION",
                     *       "ref_id": "cancellation-0001",
                     *       "reason": "The customer called: wrong address.",
                     *       "reference": "CASE-1044"
                     *     }
                     */
                    "application/json": components["schemas"]["JournalEntry"];
                };
            };
        };
    };
    listWithdrawalNotes: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "kind": "RELEASED",
                     *           "detail": "The invoice was checked with the payee: CASE-2311.",
                     *           "noted_by": "client:01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *           "created_at": "2026-01-15T09:30:00.482193Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["WithdrawalNoteList"];
                };
            };
        };
    };
    refuseHeldWithdrawal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "reason": "The invoice was checked with the payee: CASE-2311."
                 *     }
                 */
                "application/json": components["schemas"]["HeldWithdrawalRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "direction": "DEBIT",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "id": "019bc0fd-8ba2-7329-8f29-a8431be64c5f",
                     *       "amount": "0.05",
                     *       "total": "0.0501",
                     *       "fee": "0.0001",
                     *       "asset": "BTC",
                     *       "type": "CRYPTO_WITHDRAWAL",
                     *       "status": "FAILED",
                     *       "balance_asset": "BTC",
                     *       "destination_address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                     *       "crypto_network": "BITCOIN",
                     *       "auto_conversion": {},
                     *       "secondary_status": {
                     *         "name": "REFUSED",
                     *         "detail": "The approval that a policy requires was refused. The full total was returned."
                     *       },
                     *       "notional_value": "3256.5"
                     *     }
                     */
                    "application/json": components["schemas"]["Transfer"];
                };
            };
        };
    };
    releaseHeldWithdrawal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "reason": "The invoice was checked with the payee: CASE-2311."
                 *     }
                 */
                "application/json": components["schemas"]["HeldWithdrawalRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "direction": "DEBIT",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "id": "019bc0fd-8ba2-7329-8f29-a8431be64c5f",
                     *       "amount": "0.05",
                     *       "total": "0.0501",
                     *       "fee": "0.0001",
                     *       "asset": "BTC",
                     *       "type": "CRYPTO_WITHDRAWAL",
                     *       "status": "PENDING",
                     *       "balance_asset": "BTC",
                     *       "destination_address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                     *       "crypto_network": "BITCOIN",
                     *       "auto_conversion": {},
                     *       "secondary_status": {
                     *         "name": "QUEUED",
                     *         "detail": "Waiting to be submitted to the BITCOIN rail."
                     *       },
                     *       "notional_value": "3256.5"
                     *     }
                     */
                    "application/json": components["schemas"]["Transfer"];
                };
            };
        };
    };
    resolveWithdrawal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "outcome": "NOT_PAID",
                 *       "ref_id": "resolution-0001",
                 *       "reason": "The custodian has no such transaction, and confirms that in writing.",
                 *       "reference": "CASE-1043"
                 *     }
                 */
                "application/json": components["schemas"]["ResolveWithdrawalRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "actor": "ferry_b4347fb43a4afb2b9f86baf8",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "asset": "BTC",
                     *       "amount": "0.0501",
                     *       "profile_ids": [
                     *         "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40"
                     *       ],
                     *       "corrects": {
                     *         "type": "TRANSFER",
                     *         "id": "019bc0fd-8ba2-7329-8f29-a8431be64c5f"
                     *       },
                     *       "transfer_id": "019bc0fd-8ba2-7329-8f29-a8431be64c5f",
                     *       "postings": [],
                     *       "id": "019bc0fd-8ba2-74d7-a4d7-05c8e1f93b26",
                     *       "kind": "WITHDRAWAL_RESOLUTION",
                     *       "ref_id": "resolution-0001",
                     *       "reason": "The custodian has no such transaction, and confirms that in writing.",
                     *       "reference": "CASE-1043",
                     *       "outcome": "NOT_PAID"
                     *     }
                     */
                    "application/json": components["schemas"]["JournalEntry"];
                };
            };
        };
    };
    listPeople: {
        parameters: {
            query?: {
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description For the operator: only people of this customer */
                customer_id?: string;
                /** @description Ids of people (repeatable) */
                ids?: string[];
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019bc0fd-8ba2-7a17-9c3e-51d08f6b2e49",
                     *           "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *           "name": "Ada Lindqvist",
                     *           "email": "ada@example.com",
                     *           "roles": [
                     *             "MAKER",
                     *             "APPROVER"
                     *           ],
                     *           "status": "ACTIVE",
                     *           "passkeys": 0,
                     *           "created_at": "2026-01-15T09:30:00.482193Z",
                     *           "updated_at": "2026-01-15T09:30:00.482193Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["PersonList"];
                };
            };
        };
    };
    createPerson: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Ada Lindqvist",
                 *       "email": "ada@example.com",
                 *       "roles": [
                 *         "MAKER",
                 *         "APPROVER"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["CreatePersonRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-7a17-9c3e-51d08f6b2e49",
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "name": "Ada Lindqvist",
                     *       "email": "ada@example.com",
                     *       "roles": [
                     *         "MAKER",
                     *         "APPROVER"
                     *       ],
                     *       "status": "ACTIVE",
                     *       "passkeys": 0,
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "enrolment_url": "https://example.com/signin/enrol#Zm9yLW9uZS1wZXJzb24tYW5kLW9ubHktb25jZS0tLS0",
                     *       "enrolment_expires_at": "2026-01-18T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["CreatedPerson"];
                };
            };
        };
    };
    getPerson: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-7a17-9c3e-51d08f6b2e49",
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "name": "Ada Lindqvist",
                     *       "email": "ada@example.com",
                     *       "roles": [
                     *         "MAKER",
                     *         "APPROVER"
                     *       ],
                     *       "status": "ACTIVE",
                     *       "passkeys": 0,
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Person"];
                };
            };
        };
    };
    changePerson: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "roles": [
                 *         "VIEWER"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["ChangePersonRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-7a17-9c3e-51d08f6b2e49",
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "name": "Ada Lindqvist",
                     *       "email": "ada@example.com",
                     *       "roles": [
                     *         "VIEWER"
                     *       ],
                     *       "status": "ACTIVE",
                     *       "passkeys": 0,
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Person"];
                };
            };
        };
    };
    disablePerson: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-7a17-9c3e-51d08f6b2e49",
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "name": "Ada Lindqvist",
                     *       "email": "ada@example.com",
                     *       "roles": [
                     *         "MAKER",
                     *         "APPROVER"
                     *       ],
                     *       "status": "DISABLED",
                     *       "passkeys": 0,
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Person"];
                };
            };
        };
    };
    createEnrolmentLink: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "person_id": "019bc0fd-8ba2-7a17-9c3e-51d08f6b2e49",
                     *       "enrolment_url": "https://example.com/signin/enrol#Zm9yLW9uZS1wZXJzb24tYW5kLW9ubHktb25jZS0tLS0",
                     *       "enrolment_expires_at": "2026-01-18T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["EnrolmentLink"];
                };
            };
        };
    };
    listPersonSessions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019bc0fd-8ba2-7e52-8d06-c19b7f4a3d28",
                     *           "method": "PASSKEY",
                     *           "address": "192.0.2.7",
                     *           "user_agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
                     *           "created_at": "2026-01-15T09:30:00.482193Z",
                     *           "authenticated_at": "2026-01-15T09:30:00.482193Z",
                     *           "used_at": "2026-01-15T09:30:00.482193Z",
                     *           "expires_at": "2026-01-15T21:30:00.482193Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["SessionList"];
                };
            };
        };
    };
    endPersonSessions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "person_id": "019bc0fd-8ba2-7a17-9c3e-51d08f6b2e49",
                     *       "ended": 1
                     *     }
                     */
                    "application/json": components["schemas"]["EndedSessions"];
                };
            };
        };
    };
    listOwnPolicies: {
        parameters: {
            query?: {
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description With these ids (repeatable) */
                ids?: string[];
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019bc0fd-8ba2-7b1d-9e02-6c1f4d8a7b35",
                     *           "name": "wires",
                     *           "version": 1,
                     *           "enabled": true,
                     *           "applies_to": {
                     *             "rails": [
                     *               "wire"
                     *             ]
                     *           },
                     *           "rules": [
                     *             {
                     *               "type": "amount_limit",
                     *               "name": "one payment",
                     *               "asset": "USD",
                     *               "max": "250000"
                     *             },
                     *             {
                     *               "type": "velocity",
                     *               "name": "one day",
                     *               "asset": "USD",
                     *               "max": "1000000",
                     *               "window": "DAY",
                     *               "per": "CUSTOMER"
                     *             },
                     *             {
                     *               "type": "approval",
                     *               "name": "large payments",
                     *               "asset": "USD",
                     *               "above": "50000"
                     *             }
                     *           ],
                     *           "changed_by": "client:01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *           "reason": "Agreed with the bank: CASE-2290.",
                     *           "created_at": "2026-01-15T09:30:00.482193Z",
                     *           "updated_at": "2026-01-15T09:30:00.482193Z",
                     *           "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["PolicyList"];
                };
            };
        };
    };
    changeOwnPolicy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "wires",
                 *       "enabled": true,
                 *       "applies_to": {
                 *         "rails": [
                 *           "wire"
                 *         ]
                 *       },
                 *       "rules": [
                 *         {
                 *           "type": "amount_limit",
                 *           "name": "one payment",
                 *           "asset": "USD",
                 *           "max": "250000"
                 *         },
                 *         {
                 *           "type": "velocity",
                 *           "name": "one day",
                 *           "asset": "USD",
                 *           "max": "1000000",
                 *           "window": "DAY",
                 *           "per": "CUSTOMER"
                 *         },
                 *         {
                 *           "type": "approval",
                 *           "name": "large payments",
                 *           "asset": "USD",
                 *           "above": "50000"
                 *         }
                 *       ],
                 *       "reason": "Agreed with the bank: CASE-2290."
                 *     }
                 */
                "application/json": components["schemas"]["PolicyRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-7b1d-9e02-6c1f4d8a7b35",
                     *       "name": "wires",
                     *       "version": 1,
                     *       "enabled": true,
                     *       "applies_to": {
                     *         "rails": [
                     *           "wire"
                     *         ]
                     *       },
                     *       "rules": [
                     *         {
                     *           "type": "amount_limit",
                     *           "name": "one payment",
                     *           "asset": "USD",
                     *           "max": "250000"
                     *         },
                     *         {
                     *           "type": "velocity",
                     *           "name": "one day",
                     *           "asset": "USD",
                     *           "max": "1000000",
                     *           "window": "DAY",
                     *           "per": "CUSTOMER"
                     *         },
                     *         {
                     *           "type": "approval",
                     *           "name": "large payments",
                     *           "asset": "USD",
                     *           "above": "50000"
                     *         }
                     *       ],
                     *       "changed_by": "client:01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *       "reason": "Agreed with the bank: CASE-2290.",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614"
                     *     }
                     */
                    "application/json": components["schemas"]["Policy"];
                };
            };
        };
    };
    getOwnPolicy: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-7b1d-9e02-6c1f4d8a7b35",
                     *       "name": "wires",
                     *       "version": 1,
                     *       "enabled": true,
                     *       "applies_to": {
                     *         "rails": [
                     *           "wire"
                     *         ]
                     *       },
                     *       "rules": [
                     *         {
                     *           "type": "amount_limit",
                     *           "name": "one payment",
                     *           "asset": "USD",
                     *           "max": "250000"
                     *         },
                     *         {
                     *           "type": "velocity",
                     *           "name": "one day",
                     *           "asset": "USD",
                     *           "max": "1000000",
                     *           "window": "DAY",
                     *           "per": "CUSTOMER"
                     *         },
                     *         {
                     *           "type": "approval",
                     *           "name": "large payments",
                     *           "asset": "USD",
                     *           "above": "50000"
                     *         }
                     *       ],
                     *       "changed_by": "client:01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *       "reason": "Agreed with the bank: CASE-2290.",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614"
                     *     }
                     */
                    "application/json": components["schemas"]["Policy"];
                };
            };
        };
    };
    listOwnPolicyVersions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019bc0fd-8ba2-7b1d-9e02-6c1f4d8a7b35",
                     *           "name": "wires",
                     *           "version": 1,
                     *           "enabled": true,
                     *           "applies_to": {
                     *             "rails": [
                     *               "wire"
                     *             ]
                     *           },
                     *           "rules": [
                     *             {
                     *               "type": "amount_limit",
                     *               "name": "one payment",
                     *               "asset": "USD",
                     *               "max": "250000"
                     *             },
                     *             {
                     *               "type": "velocity",
                     *               "name": "one day",
                     *               "asset": "USD",
                     *               "max": "1000000",
                     *               "window": "DAY",
                     *               "per": "CUSTOMER"
                     *             },
                     *             {
                     *               "type": "approval",
                     *               "name": "large payments",
                     *               "asset": "USD",
                     *               "above": "50000"
                     *             }
                     *           ],
                     *           "changed_by": "client:01981b3e-2c07-7f19-a5d8-30e6c94b1f72",
                     *           "reason": "Agreed with the bank: CASE-2290.",
                     *           "created_at": "2026-01-15T09:30:00.482193Z",
                     *           "updated_at": "2026-01-15T09:30:00.482193Z",
                     *           "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["PolicyVersionList"];
                };
            };
        };
    };
    dryRunOwnPolicy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "applies_to": {
                 *         "rails": [
                 *           "cubix"
                 *         ]
                 *       },
                 *       "rules": [
                 *         {
                 *           "type": "amount_limit",
                 *           "name": "one payment",
                 *           "asset": "USD",
                 *           "max": "250000"
                 *         },
                 *         {
                 *           "type": "velocity",
                 *           "name": "one day",
                 *           "asset": "USD",
                 *           "max": "1000000",
                 *           "window": "DAY",
                 *           "per": "CUSTOMER"
                 *         },
                 *         {
                 *           "type": "approval",
                 *           "name": "large payments",
                 *           "asset": "USD",
                 *           "above": "50000"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["PolicyDryRunRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "from": "2025-12-16T09:30:00Z",
                     *       "examined": 0,
                     *       "complete": true,
                     *       "passed": 0,
                     *       "held": 0,
                     *       "refused": 0,
                     *       "withdrawals": []
                     *     }
                     */
                    "application/json": components["schemas"]["PolicyDryRun"];
                };
            };
        };
    };
    refuseOwnHeldWithdrawal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "reason": "The invoice was checked with the payee: CASE-2311."
                 *     }
                 */
                "application/json": components["schemas"]["HeldWithdrawalRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "direction": "DEBIT",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "id": "019bc0fd-8ba2-7329-8f29-a8431be64c5f",
                     *       "amount": "0.05",
                     *       "total": "0.0501",
                     *       "fee": "0.0001",
                     *       "asset": "BTC",
                     *       "type": "CRYPTO_WITHDRAWAL",
                     *       "status": "FAILED",
                     *       "balance_asset": "BTC",
                     *       "destination_address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                     *       "crypto_network": "BITCOIN",
                     *       "auto_conversion": {},
                     *       "secondary_status": {
                     *         "name": "REFUSED",
                     *         "detail": "The approval that a policy requires was refused. The full total was returned."
                     *       },
                     *       "notional_value": "3256.5"
                     *     }
                     */
                    "application/json": components["schemas"]["Transfer"];
                };
            };
        };
    };
    releaseOwnHeldWithdrawal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "reason": "The invoice was checked with the payee: CASE-2311."
                 *     }
                 */
                "application/json": components["schemas"]["HeldWithdrawalRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "direction": "DEBIT",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "id": "019bc0fd-8ba2-7329-8f29-a8431be64c5f",
                     *       "amount": "0.05",
                     *       "total": "0.0501",
                     *       "fee": "0.0001",
                     *       "asset": "BTC",
                     *       "type": "CRYPTO_WITHDRAWAL",
                     *       "status": "PENDING",
                     *       "balance_asset": "BTC",
                     *       "destination_address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                     *       "crypto_network": "BITCOIN",
                     *       "auto_conversion": {},
                     *       "secondary_status": {
                     *         "name": "QUEUED",
                     *         "detail": "Waiting to be submitted to the BITCOIN rail."
                     *       },
                     *       "notional_value": "3256.5"
                     *     }
                     */
                    "application/json": components["schemas"]["Transfer"];
                };
            };
        };
    };
    listProfiles: {
        parameters: {
            query?: {
                /** @description Accounts that the profiles belong to (repeatable) */
                account_ids?: string[];
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Profile identifiers (repeatable) */
                ids?: string[];
                /** @description Default 100 */
                limit?: number;
                /** @description Nickname */
                nickname?: string;
                /** @description Nicknames (repeatable) */
                nicknames?: string[];
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description Default CREATED_AT */
                order_by?: "CREATED_AT" | "UPDATED_AT";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
                /** @description updated_at eq */
                "updated_at.eq"?: string;
                /** @description updated_at gt */
                "updated_at.gt"?: string;
                /** @description updated_at gte */
                "updated_at.gte"?: string;
                /** @description updated_at lt */
                "updated_at.lt"?: string;
                /** @description updated_at lte */
                "updated_at.lte"?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *           "nickname": "Treasury",
                     *           "type": "DEFAULT",
                     *           "description": "Where customers are paid from",
                     *           "status": "ACTIVE",
                     *           "created_at": "2026-01-15T09:30:00.482193Z",
                     *           "updated_at": "2026-01-15T09:30:00.482193Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ProfileList"];
                };
            };
        };
    };
    createProfile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "nickname": "Treasury",
                 *       "description": "Where customers are paid from"
                 *     }
                 */
                "application/json": components["schemas"]["CreateProfileRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "nickname": "Treasury",
                     *       "type": "DEFAULT",
                     *       "description": "Where customers are paid from",
                     *       "status": "ACTIVE",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Profile"];
                };
            };
        };
    };
    getProfile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "nickname": "Treasury",
                     *       "type": "DEFAULT",
                     *       "description": "Where customers are paid from",
                     *       "status": "ACTIVE",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Profile"];
                };
            };
        };
    };
    updateProfile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "nickname": "Operations",
                 *       "description": "Where customers are paid from"
                 *     }
                 */
                "application/json": components["schemas"]["UpdateProfileRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "nickname": "Operations",
                     *       "type": "NORMAL",
                     *       "description": "Where customers are paid from",
                     *       "status": "ACTIVE",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:02.107544Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Profile"];
                };
            };
        };
    };
    deactivateProfile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "nickname": "Old treasury",
                     *       "type": "NORMAL",
                     *       "status": "DISABLED",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:02.107544Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Profile"];
                };
            };
        };
    };
    listBalances: {
        parameters: {
            query?: {
                /** @description Balances of these assets (repeatable) */
                assets?: string[];
                /** @description Time of the balance, including everything posted at that instant; default now */
                at?: string;
            };
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "asset": "USD",
                     *           "available": "1000000",
                     *           "held": "0",
                     *           "trading": "0"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["BalanceList"];
                };
            };
        };
    };
    getBalance: {
        parameters: {
            query?: {
                /** @description Time of the balance, including everything posted at that instant; default now */
                at?: string;
            };
            header?: never;
            path: {
                /** @description Asset */
                asset: string;
                /** @description Profile identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "asset": "USD",
                     *       "available": "1000000",
                     *       "held": "0",
                     *       "trading": "0"
                     *     }
                     */
                    "application/json": components["schemas"]["Balance"];
                };
            };
        };
    };
    listProfileEntries: {
        parameters: {
            query: {
                /** @description Default both */
                account?: "available" | "held";
                /** @description Asset */
                asset: string;
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
            };
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "at": "2026-01-15T09:30:00.482193Z",
                     *           "asset": "USD",
                     *           "account": "available",
                     *           "direction": "CREDIT",
                     *           "amount": "1250",
                     *           "balance_after": "1250",
                     *           "cause": {
                     *             "type": "TRANSFER",
                     *             "id": "019bc0fd-8ba2-73e1-93e1-4c7d20f8a916",
                     *             "kind": "WIRE_DEPOSIT"
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["EntryList"];
                };
            };
        };
    };
    setProfileIncoming: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "accepts_from": "LISTED",
                 *       "profile_ids": [
                 *         "01981b40-0d91-7a53-8b27-64c0f1a97e15"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["IncomingRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "accepts_from": "LISTED",
                     *       "profile_ids": [
                     *         "01981b40-0d91-7a53-8b27-64c0f1a97e15"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Incoming"];
                };
            };
        };
    };
    getStatement: {
        parameters: {
            query: {
                /** @description Asset */
                asset: string;
                /** @description Start of the period, inclusive */
                from: string;
                /** @description End of the period, exclusive; default as late as is final */
                to?: string;
            };
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "asset": "USD",
                     *       "from": "2026-01-15T00:00:00Z",
                     *       "to": "2026-01-16T00:00:00Z",
                     *       "opening": {
                     *         "total": "0",
                     *         "available": "0",
                     *         "held": "0"
                     *       },
                     *       "closing": {
                     *         "total": "1250",
                     *         "available": "1250",
                     *         "held": "0"
                     *       },
                     *       "movements": [
                     *         {
                     *           "at": "2026-01-15T09:30:00.482193Z",
                     *           "direction": "CREDIT",
                     *           "amount": "1250",
                     *           "balance_after": "1250",
                     *           "cause": {
                     *             "type": "TRANSFER",
                     *             "id": "019bc0fd-8ba2-73e1-93e1-4c7d20f8a916",
                     *             "kind": "WIRE_DEPOSIT"
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Statement"];
                    "application/xml": string;
                    "text/csv": string;
                };
            };
        };
    };
    simulateCryptoDeposit: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "crypto_network": "BITCOIN",
                 *       "address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                 *       "asset": "BTC",
                 *       "amount": "2"
                 *     }
                 */
                "application/json": components["schemas"]["SandboxCryptoArrivalRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "suspense_deposit": {
                     *         "id": "019bc0fd-8ba2-71ac-95ac-1a47de95bed8",
                     *         "rail": "BITCOIN",
                     *         "reference": "c69ad90a180a7b32a1c058bf931c9cbade301f385d7e99d7f7c8461bd76b8490:0",
                     *         "asset": "BTC",
                     *         "amount": "2",
                     *         "amount_units": "200000000",
                     *         "sent_to": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                     *         "reason": "No profile has this address or memo.",
                     *         "created_at": "2026-01-15T09:30:00.482193Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SandboxArrival"];
                };
            };
        };
    };
    simulateFiatAccountApproval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "reason": "Looks right."
                 *     }
                 */
                "application/json": components["schemas"]["SandboxReviewRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01981b41-5e08-7c6f-a1d4-92b7e35f0c86",
                     *       "status": "APPROVED",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:02.107544Z",
                     *       "fiat_account_owner": {
                     *         "person_details": {
                     *           "first_name": "Ada",
                     *           "last_name": "Lovelace"
                     *         }
                     *       },
                     *       "fiat_network_instructions": {
                     *         "wire": {
                     *           "account_number": "****6789",
                     *           "routing_details": {
                     *             "routing_number_type": "ABA",
                     *             "routing_number": "021000021",
                     *             "bank_name": "First Example Bank",
                     *             "bank_address": {
                     *               "country": "US",
                     *               "address1": "1 Bank Street",
                     *               "city": "New York",
                     *               "province": "NY"
                     *             }
                     *           },
                     *           "fiat_account_owner_address": {
                     *             "country": "US",
                     *             "address1": "456 Main Street",
                     *             "city": "New York",
                     *             "province": "NY",
                     *             "zip_code": "10001"
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["FiatAccount"];
                };
            };
        };
    };
    simulateFiatAccountRejection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "reason": "Looks wrong."
                 *     }
                 */
                "application/json": components["schemas"]["SandboxReviewRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01981b41-5e08-7c6f-a1d4-92b7e35f0c86",
                     *       "status": "REJECTED",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:02.107544Z",
                     *       "fiat_account_owner": {
                     *         "person_details": {
                     *           "first_name": "Ada",
                     *           "last_name": "Lovelace"
                     *         }
                     *       },
                     *       "fiat_network_instructions": {
                     *         "wire": {
                     *           "account_number": "****6789",
                     *           "routing_details": {
                     *             "routing_number_type": "ABA",
                     *             "routing_number": "021000021",
                     *             "bank_name": "First Example Bank",
                     *             "bank_address": {
                     *               "country": "US",
                     *               "address1": "1 Bank Street",
                     *               "city": "New York",
                     *               "province": "NY"
                     *             }
                     *           },
                     *           "fiat_account_owner_address": {
                     *             "country": "US",
                     *             "address1": "456 Main Street",
                     *             "city": "New York",
                     *             "province": "NY",
                     *             "zip_code": "10001"
                     *           }
                     *         }
                     *       },
                     *       "reason": "Looks wrong."
                     *     }
                     */
                    "application/json": components["schemas"]["FiatAccount"];
                };
            };
        };
    };
    simulateFiatDeposit: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "fiat_network": "WIRE",
                 *       "memo_id": "7K3JQ0W9XN4T",
                 *       "amount": "250"
                 *     }
                 */
                "application/json": components["schemas"]["SandboxFiatArrivalRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "suspense_deposit": {
                     *         "id": "019bc0fd-8ba2-71ac-95ac-1a47de95bed8",
                     *         "rail": "wire",
                     *         "account": "sandbox",
                     *         "reference": "019bc0fd-8ba2-7171-af5a-d6c1025691f8",
                     *         "asset": "USD",
                     *         "amount": "250",
                     *         "amount_units": "25000",
                     *         "sent_to": "7K3JQ0W9XN4T",
                     *         "reason": "No profile has this address or memo.",
                     *         "created_at": "2026-01-15T09:30:00.482193Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SandboxArrival"];
                };
            };
        };
    };
    simulateDeposit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "asset": "BTC",
                 *       "crypto_network": "BITCOIN",
                 *       "amount": "2",
                 *       "ref_id": "deposit-0001"
                 *     }
                 */
                "application/json": components["schemas"]["SandboxDepositRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-73d2-bbd2-f47f105356b1",
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "amount": "2",
                     *       "total": "2",
                     *       "fee": "0",
                     *       "asset": "BTC",
                     *       "direction": "CREDIT",
                     *       "type": "CRYPTO_DEPOSIT",
                     *       "status": "COMPLETED",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "ref_id": "deposit-0001",
                     *       "balance_asset": "BTC",
                     *       "crypto_network": "BITCOIN",
                     *       "auto_conversion": {},
                     *       "notional_value": "130000"
                     *     }
                     */
                    "application/json": components["schemas"]["Transfer"];
                };
            };
        };
    };
    simulateTransferCompletion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "direction": "DEBIT",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:02.107544Z",
                     *       "id": "019bc0fd-8ba2-7329-8f29-a8431be64c5f",
                     *       "amount": "0.05",
                     *       "total": "0.0501",
                     *       "fee": "0.0001",
                     *       "asset": "BTC",
                     *       "type": "CRYPTO_WITHDRAWAL",
                     *       "status": "COMPLETED",
                     *       "balance_asset": "BTC",
                     *       "destination_address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                     *       "crypto_network": "BITCOIN",
                     *       "auto_conversion": {},
                     *       "secondary_status": {
                     *         "name": "PAID",
                     *         "detail": "3 confirmations on BITCOIN."
                     *       },
                     *       "notional_value": "3256.5",
                     *       "crypto_tx_hash": "bdc9abbe2c37c61a3831225a9ddba51148e03f37648cdce4f4f1f673062a40a1",
                     *       "crypto_tx_index": "1"
                     *     }
                     */
                    "application/json": components["schemas"]["Transfer"];
                };
            };
        };
    };
    simulateTransferFailure: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "direction": "DEBIT",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:02.107544Z",
                     *       "id": "019bc0fd-8ba2-7329-8f29-a8431be64c5f",
                     *       "amount": "0.05",
                     *       "total": "0.0501",
                     *       "fee": "0.0001",
                     *       "asset": "BTC",
                     *       "type": "CRYPTO_WITHDRAWAL",
                     *       "status": "FAILED",
                     *       "balance_asset": "BTC",
                     *       "destination_address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                     *       "crypto_network": "BITCOIN",
                     *       "auto_conversion": {},
                     *       "secondary_status": {
                     *         "name": "FAILED_BY_RAIL",
                     *         "detail": "You failed the payment. The full total was returned."
                     *       },
                     *       "notional_value": "3256.5"
                     *     }
                     */
                    "application/json": components["schemas"]["Transfer"];
                };
            };
        };
    };
    listSettlementTransactions: {
        parameters: {
            query?: {
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Transactions with these ids (repeatable) */
                ids?: string[];
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description Default CREATED_AT */
                order_by?: "CREATED_AT" | "UPDATED_AT";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
                /** @description Transactions with one of these profiles as source or target (repeatable) */
                profile_ids?: string[];
                /** @description Transactions that you submitted with these ref_ids (repeatable) */
                ref_ids?: string[];
                /** @description Transactions whose `secondary_status` has one of these names (repeatable) */
                secondary_statuses?: string[];
                /** @description Transactions with this profile as source */
                source_profile_id?: string;
                /** @description Transactions with these statuses (repeatable) */
                statuses?: ("PENDING" | "SETTLED" | "EXPIRED" | "CANCELLED" | "AFFIRMED")[];
                /** @description Transactions with this profile as target */
                target_profile_id?: string;
                /** @description updated_at eq */
                "updated_at.eq"?: string;
                /** @description updated_at gt */
                "updated_at.gt"?: string;
                /** @description updated_at gte */
                "updated_at.gte"?: string;
                /** @description updated_at lt */
                "updated_at.lt"?: string;
                /** @description updated_at lte */
                "updated_at.lte"?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019bc0fd-8ba2-70d2-8263-159f662f3dad",
                     *           "ref_id": "trade-7781",
                     *           "source_profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *           "target_profile_id": "01981b40-0d91-7a53-8b27-64c0f1a97e15",
                     *           "settlement_window_start": "2026-01-15T09:30:00.482193Z",
                     *           "settlement_window_end": "2026-01-16T09:30:00.482193Z",
                     *           "legs": [
                     *             {
                     *               "id": "019bc0fd-8ba2-70d0-88d0-e3137bfc18fb",
                     *               "direction": "DELIVER",
                     *               "asset": "BTC",
                     *               "amount": "1.5"
                     *             },
                     *             {
                     *               "id": "019bc0fd-8ba2-70d1-aa3c-dcaba13ba26f",
                     *               "direction": "RECEIVE",
                     *               "asset": "USD",
                     *               "amount": "97500"
                     *             }
                     *           ],
                     *           "created_at": "2026-01-15T09:30:00.482193Z",
                     *           "status": "PENDING",
                     *           "updated_at": "2026-01-15T09:30:00.482193Z",
                     *           "secondary_status": {
                     *             "name": "AWAITING_AFFIRMATION",
                     *             "detail": "The owner of the target profile 01981b40-0d91-7a53-8b27-64c0f1a97e15 has not affirmed the transaction. It expires at 2026-01-16T09:30:00.482193Z."
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["SettlementTransactionList"];
                };
            };
        };
    };
    createSettlementTransaction: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "source_profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                 *       "target_profile_id": "01981b40-0d91-7a53-8b27-64c0f1a97e15",
                 *       "legs": [
                 *         {
                 *           "direction": "DELIVER",
                 *           "asset": "BTC",
                 *           "amount": "1.5"
                 *         },
                 *         {
                 *           "direction": "RECEIVE",
                 *           "asset": "USD",
                 *           "amount": "97500"
                 *         }
                 *       ],
                 *       "ref_id": "trade-7781"
                 *     }
                 */
                "application/json": components["schemas"]["SettlementTransactionRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-70d2-8263-159f662f3dad",
                     *       "ref_id": "trade-7781",
                     *       "source_profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "target_profile_id": "01981b40-0d91-7a53-8b27-64c0f1a97e15",
                     *       "settlement_window_start": "2026-01-15T09:30:00.482193Z",
                     *       "settlement_window_end": "2026-01-16T09:30:00.482193Z",
                     *       "legs": [
                     *         {
                     *           "id": "019bc0fd-8ba2-70d0-88d0-e3137bfc18fb",
                     *           "direction": "DELIVER",
                     *           "asset": "BTC",
                     *           "amount": "1.5"
                     *         },
                     *         {
                     *           "id": "019bc0fd-8ba2-70d1-aa3c-dcaba13ba26f",
                     *           "direction": "RECEIVE",
                     *           "asset": "USD",
                     *           "amount": "97500"
                     *         }
                     *       ],
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "status": "PENDING",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "secondary_status": {
                     *         "name": "AWAITING_AFFIRMATION",
                     *         "detail": "The owner of the target profile 01981b40-0d91-7a53-8b27-64c0f1a97e15 has not affirmed the transaction. It expires at 2026-01-16T09:30:00.482193Z."
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SettlementTransaction"];
                };
            };
        };
    };
    getSettlementTransaction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-70d2-8263-159f662f3dad",
                     *       "ref_id": "trade-7781",
                     *       "source_profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "target_profile_id": "01981b40-0d91-7a53-8b27-64c0f1a97e15",
                     *       "settlement_window_start": "2026-01-15T09:30:00.482193Z",
                     *       "settlement_window_end": "2026-01-16T09:30:00.482193Z",
                     *       "legs": [
                     *         {
                     *           "id": "019bc0fd-8ba2-70d0-88d0-e3137bfc18fb",
                     *           "direction": "DELIVER",
                     *           "asset": "BTC",
                     *           "amount": "1.5"
                     *         },
                     *         {
                     *           "id": "019bc0fd-8ba2-70d1-aa3c-dcaba13ba26f",
                     *           "direction": "RECEIVE",
                     *           "asset": "USD",
                     *           "amount": "97500"
                     *         }
                     *       ],
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "status": "PENDING",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "secondary_status": {
                     *         "name": "AWAITING_AFFIRMATION",
                     *         "detail": "The owner of the target profile 01981b40-0d91-7a53-8b27-64c0f1a97e15 has not affirmed the transaction. It expires at 2026-01-16T09:30:00.482193Z."
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SettlementTransaction"];
                };
            };
        };
    };
    cancelSettlementTransaction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-70d2-8263-159f662f3dad",
                     *       "ref_id": "trade-7781",
                     *       "source_profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "target_profile_id": "01981b40-0d91-7a53-8b27-64c0f1a97e15",
                     *       "settlement_window_start": "2026-01-15T09:30:00.482193Z",
                     *       "settlement_window_end": "2026-01-16T09:30:00.482193Z",
                     *       "legs": [
                     *         {
                     *           "id": "019bc0fd-8ba2-70d0-88d0-e3137bfc18fb",
                     *           "direction": "DELIVER",
                     *           "asset": "BTC",
                     *           "amount": "1.5"
                     *         },
                     *         {
                     *           "id": "019bc0fd-8ba2-70d1-aa3c-dcaba13ba26f",
                     *           "direction": "RECEIVE",
                     *           "asset": "USD",
                     *           "amount": "97500"
                     *         }
                     *       ],
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "status": "CANCELLED",
                     *       "updated_at": "2026-01-15T09:30:02.107544Z"
                     *     }
                     */
                    "application/json": components["schemas"]["SettlementTransaction"];
                };
            };
        };
    };
    affirmSettlementTransaction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-70d2-8263-159f662f3dad",
                     *       "ref_id": "trade-7781",
                     *       "source_profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "target_profile_id": "01981b40-0d91-7a53-8b27-64c0f1a97e15",
                     *       "settlement_window_start": "2026-01-15T09:30:00.482193Z",
                     *       "settlement_window_end": "2026-01-16T09:30:00.482193Z",
                     *       "legs": [
                     *         {
                     *           "id": "019bc0fd-8ba2-70d0-88d0-e3137bfc18fb",
                     *           "direction": "DELIVER",
                     *           "asset": "BTC",
                     *           "amount": "1.5"
                     *         },
                     *         {
                     *           "id": "019bc0fd-8ba2-70d1-aa3c-dcaba13ba26f",
                     *           "direction": "RECEIVE",
                     *           "asset": "USD",
                     *           "amount": "97500"
                     *         }
                     *       ],
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "status": "AFFIRMED",
                     *       "updated_at": "2026-01-15T09:30:02.107544Z",
                     *       "secondary_status": {
                     *         "name": "AWAITING_SETTLEMENT",
                     *         "detail": "The settlement window is open; settlement is in progress."
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SettlementTransaction"];
                };
            };
        };
    };
    listCryptoDestinationAddresses: {
        parameters: {
            query?: {
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description On these networks (repeatable) */
                crypto_networks?: ("BITCOIN" | "ETHEREUM" | "BITCOIN_CASH" | "LITECOIN" | "SOLANA" | "POLYGON_POS" | "BASE" | "ARBITRUM_ONE" | "INK")[];
                /** @description With these ids (repeatable) */
                ids?: string[];
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "crypto_network": "BITCOIN",
                     *           "address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                     *           "label": "Cold wallet",
                     *           "id": "019bc0fd-8ba2-7a44-8f3e-0d2b6c9e1a58",
                     *           "created_at": "2026-01-15T09:30:00.482193Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["CryptoDestinationAddressList"];
                };
            };
        };
    };
    createCryptoDestinationAddress: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "crypto_network": "BITCOIN",
                 *       "address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                 *       "label": "Cold wallet"
                 *     }
                 */
                "application/json": components["schemas"]["CryptoDestinationAddressRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "crypto_network": "BITCOIN",
                     *       "address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                     *       "label": "Cold wallet",
                     *       "id": "019bc0fd-8ba2-7a44-8f3e-0d2b6c9e1a58",
                     *       "created_at": "2026-01-15T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["CryptoDestinationAddress"];
                };
            };
        };
    };
    getCryptoDestinationAddress: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "crypto_network": "BITCOIN",
                     *       "address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                     *       "label": "Cold wallet",
                     *       "id": "019bc0fd-8ba2-7a44-8f3e-0d2b6c9e1a58",
                     *       "created_at": "2026-01-15T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["CryptoDestinationAddress"];
                };
            };
        };
    };
    deleteCryptoDestinationAddress: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "crypto_network": "BITCOIN",
                     *       "address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                     *       "label": "Cold wallet",
                     *       "id": "019bc0fd-8ba2-7a44-8f3e-0d2b6c9e1a58",
                     *       "created_at": "2026-01-15T09:30:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["CryptoDestinationAddress"];
                };
            };
        };
    };
    createCryptoWithdrawal: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                 *       "asset": "BTC",
                 *       "crypto_network": "BITCOIN",
                 *       "destination_address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                 *       "amount": "0.05",
                 *       "ref_id": "payout-3311",
                 *       "beneficiary": {
                 *         "person_details": {
                 *           "first_name": "Grace",
                 *           "last_name": "Hopper"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CryptoWithdrawalRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "direction": "DEBIT",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "id": "019bc0fd-8ba2-7329-8f29-a8431be64c5f",
                     *       "amount": "0.05",
                     *       "total": "0.0501",
                     *       "fee": "0.0001",
                     *       "asset": "BTC",
                     *       "type": "CRYPTO_WITHDRAWAL",
                     *       "status": "PENDING",
                     *       "balance_asset": "BTC",
                     *       "destination_address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                     *       "crypto_network": "BITCOIN",
                     *       "auto_conversion": {},
                     *       "secondary_status": {
                     *         "name": "QUEUED",
                     *         "detail": "Waiting to be submitted to the BITCOIN rail."
                     *       },
                     *       "notional_value": "3256.5",
                     *       "ref_id": "payout-3311"
                     *     }
                     */
                    "application/json": components["schemas"]["Transfer"];
                };
            };
        };
    };
    listDepositAddresses: {
        parameters: {
            query?: {
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description On these networks (repeatable) */
                crypto_networks?: ("BITCOIN" | "ETHEREUM" | "BITCOIN_CASH" | "LITECOIN" | "SOLANA" | "POLYGON_POS" | "BASE" | "ARBITRUM_ONE" | "INK")[];
                /** @description Of this identity */
                identity_id?: string;
                /** @description Of these identities (repeatable) */
                identity_ids?: string[];
                /** @description With these ids (repeatable) */
                ids?: string[];
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
                /** @description Of these profiles (repeatable) */
                profile_ids?: string[];
                /** @description Requested with these ref_ids (repeatable) */
                ref_ids?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *           "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *           "created_at": "2026-01-15T09:30:00.482193Z",
                     *           "id": "019bc0fd-8ba2-7017-b017-c1e4fd88537f",
                     *           "crypto_network": "BITCOIN",
                     *           "address": "bc1q5r7u8vvu0yqwc4uaahnkyls46gynyk0c60gq3m",
                     *           "ref_id": "address-0001",
                     *           "metadata": {
                     *             "user": "42"
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["DepositAddressList"];
                };
            };
        };
    };
    createDepositAddress: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                 *       "crypto_network": "BITCOIN",
                 *       "ref_id": "address-0001",
                 *       "metadata": {
                 *         "user": "42"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["DepositAddressRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "id": "019bc0fd-8ba2-7017-b017-c1e4fd88537f",
                     *       "crypto_network": "BITCOIN",
                     *       "address": "bc1q5r7u8vvu0yqwc4uaahnkyls46gynyk0c60gq3m",
                     *       "ref_id": "address-0001",
                     *       "metadata": {
                     *         "user": "42"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["DepositAddress"];
                };
            };
        };
    };
    createCryptoWithdrawalFee: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "asset": "BTC",
                 *       "crypto_network": "BITCOIN",
                 *       "destination_address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                 *       "amount": "0.05"
                 *     }
                 */
                "application/json": components["schemas"]["GuaranteedFeeRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019bc0fd-8ba2-718f-a18f-b7fd1380b125",
                     *       "asset": "BTC",
                     *       "crypto_network": "BITCOIN",
                     *       "destination_address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                     *       "amount": "0.05",
                     *       "total": "0.0501",
                     *       "fee": "0.0001",
                     *       "expires_at": "2026-01-15T09:45:00.482193Z"
                     *     }
                     */
                    "application/json": components["schemas"]["GuaranteedFee"];
                };
            };
        };
    };
    listFiatAccounts: {
        parameters: {
            query?: {
                /** @description Only those of these accounts (repeatable) */
                account_ids?: string[];
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Only those of this identity */
                identity_id?: string;
                /** @description Only those of these identities (repeatable) */
                identity_ids?: string[];
                /** @description Only these (repeatable) */
                ids?: string[];
                /** @description Whether deleted accounts are listed as well; default false */
                include_deleted?: boolean;
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description Default CREATED_AT */
                order_by?: "CREATED_AT" | "UPDATED_AT";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
                /** @description Only those with these ref_ids (repeatable) */
                ref_ids?: string[];
                /** @description Only those in these states (repeatable) */
                statuses?: ("PENDING" | "APPROVED" | "REJECTED")[];
                /** @description updated_at eq */
                "updated_at.eq"?: string;
                /** @description updated_at gt */
                "updated_at.gt"?: string;
                /** @description updated_at gte */
                "updated_at.gte"?: string;
                /** @description updated_at lt */
                "updated_at.lt"?: string;
                /** @description updated_at lte */
                "updated_at.lte"?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "01981b41-5e08-7c6f-a1d4-92b7e35f0c86",
                     *           "status": "PENDING",
                     *           "created_at": "2026-01-15T09:30:00.482193Z",
                     *           "updated_at": "2026-01-15T09:30:00.482193Z",
                     *           "fiat_account_owner": {
                     *             "person_details": {
                     *               "first_name": "Ada",
                     *               "last_name": "Lovelace"
                     *             }
                     *           },
                     *           "fiat_network_instructions": {
                     *             "wire": {
                     *               "account_number": "****6789",
                     *               "routing_details": {
                     *                 "routing_number_type": "ABA",
                     *                 "routing_number": "021000021",
                     *                 "bank_name": "First Example Bank",
                     *                 "bank_address": {
                     *                   "country": "US",
                     *                   "address1": "1 Bank Street",
                     *                   "city": "New York",
                     *                   "province": "NY"
                     *                 }
                     *               },
                     *               "fiat_account_owner_address": {
                     *                 "country": "US",
                     *                 "address1": "456 Main Street",
                     *                 "city": "New York",
                     *                 "province": "NY",
                     *                 "zip_code": "10001"
                     *               }
                     *             }
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["FiatAccountList"];
                };
            };
        };
    };
    createFiatAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "fiat_account_owner": {
                 *         "person_details": {
                 *           "first_name": "Ada",
                 *           "last_name": "Lovelace"
                 *         }
                 *       },
                 *       "fiat_network_instructions": {
                 *         "wire": {
                 *           "account_number": "000123456789",
                 *           "routing_details": {
                 *             "routing_number_type": "ABA",
                 *             "routing_number": "021000021",
                 *             "bank_name": "First Example Bank",
                 *             "bank_address": {
                 *               "country": "US",
                 *               "address1": "1 Bank Street",
                 *               "city": "New York",
                 *               "province": "NY"
                 *             }
                 *           },
                 *           "fiat_account_owner_address": {
                 *             "country": "US",
                 *             "address1": "456 Main Street",
                 *             "city": "New York",
                 *             "province": "NY",
                 *             "zip_code": "10001"
                 *           }
                 *         }
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CreateFiatAccountRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01981b41-5e08-7c6f-a1d4-92b7e35f0c86",
                     *       "status": "PENDING",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "fiat_account_owner": {
                     *         "person_details": {
                     *           "first_name": "Ada",
                     *           "last_name": "Lovelace"
                     *         }
                     *       },
                     *       "fiat_network_instructions": {
                     *         "wire": {
                     *           "account_number": "****6789",
                     *           "routing_details": {
                     *             "routing_number_type": "ABA",
                     *             "routing_number": "021000021",
                     *             "bank_name": "First Example Bank",
                     *             "bank_address": {
                     *               "country": "US",
                     *               "address1": "1 Bank Street",
                     *               "city": "New York",
                     *               "province": "NY"
                     *             }
                     *           },
                     *           "fiat_account_owner_address": {
                     *             "country": "US",
                     *             "address1": "456 Main Street",
                     *             "city": "New York",
                     *             "province": "NY",
                     *             "zip_code": "10001"
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["FiatAccount"];
                };
            };
        };
    };
    getFiatAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01981b41-5e08-7c6f-a1d4-92b7e35f0c86",
                     *       "status": "PENDING",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "fiat_account_owner": {
                     *         "person_details": {
                     *           "first_name": "Ada",
                     *           "last_name": "Lovelace"
                     *         }
                     *       },
                     *       "fiat_network_instructions": {
                     *         "wire": {
                     *           "account_number": "****6789",
                     *           "routing_details": {
                     *             "routing_number_type": "ABA",
                     *             "routing_number": "021000021",
                     *             "bank_name": "First Example Bank",
                     *             "bank_address": {
                     *               "country": "US",
                     *               "address1": "1 Bank Street",
                     *               "city": "New York",
                     *               "province": "NY"
                     *             }
                     *           },
                     *           "fiat_account_owner_address": {
                     *             "country": "US",
                     *             "address1": "456 Main Street",
                     *             "city": "New York",
                     *             "province": "NY",
                     *             "zip_code": "10001"
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["FiatAccount"];
                };
            };
        };
    };
    updateFiatAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "fiat_account_owner": {
                 *         "person_details": {
                 *           "first_name": "Ada",
                 *           "last_name": "King"
                 *         }
                 *       },
                 *       "metadata": {
                 *         "reason": "married"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["UpdateFiatAccountRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01981b41-5e08-7c6f-a1d4-92b7e35f0c86",
                     *       "status": "PENDING",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:02.107544Z",
                     *       "fiat_account_owner": {
                     *         "person_details": {
                     *           "first_name": "Ada",
                     *           "last_name": "King"
                     *         }
                     *       },
                     *       "fiat_network_instructions": {
                     *         "wire": {
                     *           "account_number": "****6789",
                     *           "routing_details": {
                     *             "routing_number_type": "ABA",
                     *             "routing_number": "021000021",
                     *             "bank_name": "First Example Bank",
                     *             "bank_address": {
                     *               "country": "US",
                     *               "address1": "1 Bank Street",
                     *               "city": "New York",
                     *               "province": "NY"
                     *             }
                     *           },
                     *           "fiat_account_owner_address": {
                     *             "country": "US",
                     *             "address1": "456 Main Street",
                     *             "city": "New York",
                     *             "province": "NY",
                     *             "zip_code": "10001"
                     *           }
                     *         }
                     *       },
                     *       "metadata": {
                     *         "reason": "married"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["FiatAccount"];
                };
            };
        };
    };
    deleteFiatAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01981b41-5e08-7c6f-a1d4-92b7e35f0c86",
                     *       "status": "PENDING",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:02.107544Z",
                     *       "fiat_account_owner": {
                     *         "person_details": {
                     *           "first_name": "****",
                     *           "last_name": "****"
                     *         }
                     *       },
                     *       "fiat_network_instructions": {
                     *         "wire": {
                     *           "account_number": "****6789",
                     *           "routing_details": {
                     *             "routing_number_type": "ABA",
                     *             "routing_number": "021000021",
                     *             "bank_name": "First Example Bank",
                     *             "bank_address": {
                     *               "country": "US",
                     *               "address1": "1 Bank Street",
                     *               "city": "New York",
                     *               "province": "NY"
                     *             }
                     *           },
                     *           "fiat_account_owner_address": {
                     *             "country": "US"
                     *           }
                     *         }
                     *       },
                     *       "deleted_at": "2026-01-15T09:30:02.107544Z"
                     *     }
                     */
                    "application/json": components["schemas"]["FiatAccount"];
                };
            };
        };
    };
    listFiatDepositInstructions: {
        parameters: {
            query?: {
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Of this identity */
                identity_id?: string;
                /** @description Of these identities (repeatable) */
                identity_ids?: string[];
                /** @description With these ids (repeatable) */
                ids?: string[];
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
                /** @description Of these profiles (repeatable) */
                profile_ids?: string[];
                /** @description Requested with these ref_ids (repeatable) */
                ref_ids?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *           "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *           "created_at": "2026-01-15T09:30:00.482193Z",
                     *           "id": "019bc0fd-8ba2-72ed-b6ed-4c82b03e7f64",
                     *           "fiat_network": "WIRE",
                     *           "memo_id": "NZ4TBTPRJKQ5",
                     *           "fiat_network_instructions": {
                     *             "wire": {
                     *               "account_number": "000987654321",
                     *               "routing_details": {
                     *                 "routing_number_type": "ABA",
                     *                 "routing_number": "021000021",
                     *                 "bank_name": "Sandbox Bank",
                     *                 "bank_address": {
                     *                   "country": "US",
                     *                   "address1": "1 Pier Street",
                     *                   "city": "New York",
                     *                   "province": "NY"
                     *                 }
                     *               },
                     *               "fiat_account_owner_address": {
                     *                 "country": "US",
                     *                 "address1": "2 Pier Street",
                     *                 "city": "New York"
                     *               }
                     *             }
                     *           },
                     *           "ref_id": "instructions-0001",
                     *           "metadata": {
                     *             "user": "42"
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["FiatDepositInstructionsList"];
                };
            };
        };
    };
    createFiatDepositInstructions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                 *       "fiat_network": "WIRE",
                 *       "ref_id": "instructions-0001",
                 *       "metadata": {
                 *         "user": "42"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["FiatDepositInstructionsRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "id": "019bc0fd-8ba2-72ed-b6ed-4c82b03e7f64",
                     *       "fiat_network": "WIRE",
                     *       "memo_id": "NZ4TBTPRJKQ5",
                     *       "fiat_network_instructions": {
                     *         "wire": {
                     *           "account_number": "000987654321",
                     *           "routing_details": {
                     *             "routing_number_type": "ABA",
                     *             "routing_number": "021000021",
                     *             "bank_name": "Sandbox Bank",
                     *             "bank_address": {
                     *               "country": "US",
                     *               "address1": "1 Pier Street",
                     *               "city": "New York",
                     *               "province": "NY"
                     *             }
                     *           },
                     *           "fiat_account_owner_address": {
                     *             "country": "US",
                     *             "address1": "2 Pier Street",
                     *             "city": "New York"
                     *           }
                     *         }
                     *       },
                     *       "ref_id": "instructions-0001",
                     *       "metadata": {
                     *         "user": "42"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["FiatDepositInstructions"];
                };
            };
        };
    };
    getFiatDepositInstructions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "id": "019bc0fd-8ba2-72ed-b6ed-4c82b03e7f64",
                     *       "fiat_network": "WIRE",
                     *       "memo_id": "NZ4TBTPRJKQ5",
                     *       "fiat_network_instructions": {
                     *         "wire": {
                     *           "account_number": "000987654321",
                     *           "routing_details": {
                     *             "routing_number_type": "ABA",
                     *             "routing_number": "021000021",
                     *             "bank_name": "Sandbox Bank",
                     *             "bank_address": {
                     *               "country": "US",
                     *               "address1": "1 Pier Street",
                     *               "city": "New York",
                     *               "province": "NY"
                     *             }
                     *           },
                     *           "fiat_account_owner_address": {
                     *             "country": "US",
                     *             "address1": "2 Pier Street",
                     *             "city": "New York"
                     *           }
                     *         }
                     *       },
                     *       "ref_id": "instructions-0001",
                     *       "metadata": {
                     *         "user": "42"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["FiatDepositInstructions"];
                };
            };
        };
    };
    createFiatWithdrawal: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                 *       "fiat_account_id": "01981b41-5e08-7c6f-a1d4-92b7e35f0c86",
                 *       "asset": "USD",
                 *       "amount": "1500",
                 *       "ref_id": "payout-3310",
                 *       "memo": "Invoice 2041"
                 *     }
                 */
                "application/json": components["schemas"]["FiatWithdrawalRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "direction": "DEBIT",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "id": "019bc0fd-8ba2-739a-939a-606a3d832b86",
                     *       "amount": "1500",
                     *       "total": "1520",
                     *       "fee": "20",
                     *       "asset": "USD",
                     *       "type": "WIRE_WITHDRAWAL",
                     *       "status": "PENDING",
                     *       "ref_id": "payout-3310",
                     *       "balance_asset": "USD",
                     *       "fiat_account_id": "01981b41-5e08-7c6f-a1d4-92b7e35f0c86",
                     *       "secondary_status": {
                     *         "name": "AWAITING_FIAT_ACCOUNT_APPROVAL",
                     *         "detail": "Waiting for fiat account 01981b41-5e08-7c6f-a1d4-92b7e35f0c86 to be approved. If it is rejected, the withdrawal fails."
                     *       },
                     *       "memo": "Invoice 2041"
                     *     }
                     */
                    "application/json": components["schemas"]["Transfer"];
                };
            };
        };
    };
    createInternalTransfer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "from_profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                 *       "to_profile_id": "01981b40-0d91-7a53-8b27-64c0f1a97e15",
                 *       "asset": "BTC",
                 *       "amount": "0.5",
                 *       "ref_id": "rebalance-0117"
                 *     }
                 */
                "application/json": components["schemas"]["PlatformTransferRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "direction": "DEBIT",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "id": "019bc0fd-8ba2-72b6-92b6-8922303a5011",
                     *       "amount": "0.5",
                     *       "total": "0.5",
                     *       "fee": "0",
                     *       "asset": "BTC",
                     *       "type": "INTERNAL_TRANSFER_DEBIT",
                     *       "status": "COMPLETED",
                     *       "ref_id": "rebalance-0117",
                     *       "balance_asset": "BTC",
                     *       "group_id": "019bc0fd-8ba2-72b6-92b6-8922303a5010"
                     *     }
                     */
                    "application/json": components["schemas"]["Transfer"];
                };
            };
        };
    };
    listLimitUtilizations: {
        parameters: {
            query: {
                /** @description Asset */
                asset: string;
                /** @description The profile to withdraw from */
                profile_id: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "policy": "wires",
                     *           "rule": "one day",
                     *           "window": "DAY",
                     *           "per": "CUSTOMER",
                     *           "asset": "USD",
                     *           "max": "1000000",
                     *           "used": "0",
                     *           "available": "1000000",
                     *           "rails": [
                     *             "wire"
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["LimitUtilizationList"];
                };
            };
        };
    };
    createPlatformTransfer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "from_profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                 *       "to_profile_id": "01981b40-0d91-7a53-8b27-64c0f1a97e15",
                 *       "asset": "USD",
                 *       "amount": "25",
                 *       "ref_id": "invoice-2041",
                 *       "metadata": {
                 *         "invoice": "2041"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["PlatformTransferRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "direction": "DEBIT",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "id": "019bc0fd-8ba2-73a0-83a0-f080bd6010d9",
                     *       "amount": "25",
                     *       "total": "25",
                     *       "fee": "0",
                     *       "asset": "USD",
                     *       "type": "PLATFORM_TRANSFER_DEBIT",
                     *       "status": "COMPLETED",
                     *       "ref_id": "invoice-2041",
                     *       "balance_asset": "USD",
                     *       "metadata": {
                     *         "invoice": "2041"
                     *       },
                     *       "auto_conversion": {},
                     *       "group_id": "019bc0fd-8ba2-73a0-83a0-f080bd6010d8"
                     *     }
                     */
                    "application/json": components["schemas"]["Transfer"];
                };
            };
        };
    };
    createPlatformTransfers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "transfers": [
                 *         {
                 *           "from_profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                 *           "to_profile_id": "01981b40-0d91-7a53-8b27-64c0f1a97e15",
                 *           "asset": "USD",
                 *           "amount": "2150",
                 *           "ref_id": "salary-2026-11-0001"
                 *         },
                 *         {
                 *           "from_profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                 *           "to_profile_id": "01981b40-0d91-7a53-8b27-64c0f1a97e15",
                 *           "asset": "USD",
                 *           "amount": "1980.5",
                 *           "ref_id": "salary-2026-11-0002"
                 *         }
                 *       ],
                 *       "atomic": true
                 *     }
                 */
                "application/json": components["schemas"]["BulkTransferRequest"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "results": [
                     *         {
                     *           "ref_id": "salary-2026-11-0001",
                     *           "status": 200,
                     *           "transfer": {
                     *             "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *             "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *             "direction": "DEBIT",
                     *             "created_at": "2026-01-15T09:30:00.482193Z",
                     *             "updated_at": "2026-01-15T09:30:00.482193Z",
                     *             "id": "019bc0fd-8ba2-74c1-91d7-5c0de28f7131",
                     *             "amount": "2150",
                     *             "total": "2150",
                     *             "fee": "0",
                     *             "asset": "USD",
                     *             "type": "PLATFORM_TRANSFER_DEBIT",
                     *             "status": "COMPLETED",
                     *             "ref_id": "salary-2026-11-0001",
                     *             "balance_asset": "USD",
                     *             "auto_conversion": {},
                     *             "group_id": "019bc0fd-8ba2-74c1-91d7-5c0de28f7130"
                     *           }
                     *         },
                     *         {
                     *           "ref_id": "salary-2026-11-0002",
                     *           "status": 200,
                     *           "transfer": {
                     *             "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *             "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *             "direction": "DEBIT",
                     *             "created_at": "2026-01-15T09:30:00.482193Z",
                     *             "updated_at": "2026-01-15T09:30:00.482193Z",
                     *             "id": "019bc0fd-8ba2-7d02-a6b4-07f9c2e1b581",
                     *             "amount": "1980.5",
                     *             "total": "1980.5",
                     *             "fee": "0",
                     *             "asset": "USD",
                     *             "type": "PLATFORM_TRANSFER_DEBIT",
                     *             "status": "COMPLETED",
                     *             "ref_id": "salary-2026-11-0002",
                     *             "balance_asset": "USD",
                     *             "auto_conversion": {},
                     *             "group_id": "019bc0fd-8ba2-7d02-a6b4-07f9c2e1b580"
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["BulkTransferResults"];
                };
            };
        };
    };
    listTransfers: {
        parameters: {
            query?: {
                /** @description Transfers for these accounts (repeatable) */
                account_ids?: string[];
                /** @description Transfers of these assets (repeatable) */
                assets?: string[];
                /** @description created_at eq */
                "created_at.eq"?: string;
                /** @description created_at gt */
                "created_at.gt"?: string;
                /** @description created_at gte */
                "created_at.gte"?: string;
                /** @description created_at lt */
                "created_at.lt"?: string;
                /** @description created_at lte */
                "created_at.lte"?: string;
                /** @description Transfers with these on-chain transactions (repeatable) */
                crypto_tx_hashes?: string[];
                /** @description Your sides of the transfers of these groups (repeatable) */
                group_ids?: string[];
                /** @description Transfers for this identity */
                identity_id?: string;
                /** @description Transfers for these identities (repeatable) */
                identity_ids?: string[];
                /** @description Transfers with these ids (repeatable) */
                ids?: string[];
                /** @description Default 100 */
                limit?: number;
                /** @description Default DESC */
                order?: "ASC" | "DESC";
                /** @description Default CREATED_AT */
                order_by?: "CREATED_AT" | "UPDATED_AT";
                /** @description next_page_cursor of the previous page */
                page_cursor?: string;
                /** @description Transfers of these profiles (repeatable) */
                profile_ids?: string[];
                /** @description Transfers that were requested with these ref_ids (repeatable) */
                ref_ids?: string[];
                /** @description Transfers whose `secondary_status` has one of these names (repeatable) */
                secondary_statuses?: string[];
                /** @description Transfers in these states (repeatable) */
                statuses?: ("PENDING" | "COMPLETED" | "FAILED")[];
                /** @description Transfers of these types (repeatable) */
                type?: ("PLATFORM_TRANSFER_DEBIT" | "PLATFORM_TRANSFER_CREDIT" | "INTERNAL_TRANSFER_DEBIT" | "INTERNAL_TRANSFER_CREDIT" | "CRYPTO_DEPOSIT" | "CRYPTO_WITHDRAWAL" | "WIRE_DEPOSIT" | "WIRE_WITHDRAWAL" | "CUBIX_DEPOSIT" | "CUBIX_WITHDRAWAL" | "BANK_DEPOSIT" | "BANK_WITHDRAWAL" | "CBIT_DEPOSIT" | "CBIT_WITHDRAWAL" | "SEN_DEPOSIT" | "SEN_WITHDRAWAL" | "SIGNET_DEPOSIT" | "SIGNET_WITHDRAWAL")[];
                /** @description updated_at eq */
                "updated_at.eq"?: string;
                /** @description updated_at gt */
                "updated_at.gt"?: string;
                /** @description updated_at gte */
                "updated_at.gte"?: string;
                /** @description updated_at lt */
                "updated_at.lt"?: string;
                /** @description updated_at lte */
                "updated_at.lte"?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *           "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *           "direction": "DEBIT",
                     *           "created_at": "2026-01-15T09:30:00.482193Z",
                     *           "updated_at": "2026-01-15T09:30:00.482193Z",
                     *           "id": "019bc0fd-8ba2-7329-8f29-a8431be64c5f",
                     *           "amount": "0.05",
                     *           "total": "0.0501",
                     *           "fee": "0.0001",
                     *           "asset": "BTC",
                     *           "type": "CRYPTO_WITHDRAWAL",
                     *           "status": "PENDING",
                     *           "balance_asset": "BTC",
                     *           "destination_address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                     *           "crypto_network": "BITCOIN",
                     *           "auto_conversion": {},
                     *           "secondary_status": {
                     *             "name": "QUEUED",
                     *             "detail": "Waiting to be submitted to the BITCOIN rail."
                     *           },
                     *           "notional_value": "3256.5"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["TransferList"];
                };
            };
        };
    };
    getTransfer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "customer_id": "01981b3e-1f40-7d22-8c19-5b7a90e3d614",
                     *       "profile_id": "01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40",
                     *       "direction": "DEBIT",
                     *       "created_at": "2026-01-15T09:30:00.482193Z",
                     *       "updated_at": "2026-01-15T09:30:00.482193Z",
                     *       "id": "019bc0fd-8ba2-7329-8f29-a8431be64c5f",
                     *       "amount": "0.05",
                     *       "total": "0.0501",
                     *       "fee": "0.0001",
                     *       "asset": "BTC",
                     *       "type": "CRYPTO_WITHDRAWAL",
                     *       "status": "PENDING",
                     *       "balance_asset": "BTC",
                     *       "destination_address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                     *       "crypto_network": "BITCOIN",
                     *       "auto_conversion": {},
                     *       "secondary_status": {
                     *         "name": "QUEUED",
                     *         "detail": "Waiting to be submitted to the BITCOIN rail."
                     *       },
                     *       "notional_value": "3256.5"
                     *     }
                     */
                    "application/json": components["schemas"]["Transfer"];
                };
            };
        };
    };
}
