package dev.parley.app;

import dev.parley.client.MessageInfo;
import dev.parley.client.ParleyClient;
import dev.parley.protocol.ContextId;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// All messages of a context, fetched page by page.
final class MessagePages {

  private static final int PAGE = 200;

  private final ParleyClient client;
  private final ContextId context;

  MessagePages(ParleyClient client, ContextId context) {
    this.client = client;
    this.context = context;
  }

  void forEach(Consumer<MessageInfo> reader) {
    @Nullable String cursor = null;
    do {
      var page = client.messages(context, cursor, PAGE);
      page.items().forEach(reader);
      cursor = page.items().isEmpty() ? null : page.nextCursor();
    } while (cursor != null);
  }
}
