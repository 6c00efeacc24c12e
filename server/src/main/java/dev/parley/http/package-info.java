/// HTTP: listener, routing, requests, replies, authentication, WebSockets, and open streams.
@NullMarked
package dev.parley.http;

import org.jspecify.annotations.NullMarked;
