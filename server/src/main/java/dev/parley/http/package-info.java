/// The HTTP layer that all APIs share: listener, routing, requests, replies, authentication, and
/// event streams.
@NullMarked
package dev.parley.http;

import org.jspecify.annotations.NullMarked;
