/// The API for keys, people, groups, tenants, shared contexts, sign-ins and tickets.
@NullMarked
package dev.parley.api.identity;

import org.jspecify.annotations.NullMarked;
