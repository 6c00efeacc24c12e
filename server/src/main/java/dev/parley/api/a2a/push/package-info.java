/// Sends push notifications of A2A tasks to webhooks: in order, with retries, and across restarts.
@NullMarked
package dev.parley.api.a2a.push;

import org.jspecify.annotations.NullMarked;
