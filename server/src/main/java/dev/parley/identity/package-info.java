/// Who calls the server and what the caller may do: people, keys, groups, tenants, shared contexts,
/// and the policy that decides every request.
@NullMarked
package dev.parley.identity;

import org.jspecify.annotations.NullMarked;
