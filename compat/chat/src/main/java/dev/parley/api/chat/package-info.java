/// The chat API: conversations, messages and tasks over `/chat`, with a stream of chat events.
@NullMarked
package dev.parley.api.chat;

import org.jspecify.annotations.NullMarked;
