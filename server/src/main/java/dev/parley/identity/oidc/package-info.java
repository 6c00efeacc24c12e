/// Signs people in with OpenID Connect: the flow, the provider, its tokens, and the people.
@NullMarked
package dev.parley.identity.oidc;

import org.jspecify.annotations.NullMarked;
