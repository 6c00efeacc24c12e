package dev.parley.model;

import dev.parley.net.ServerSentEvent;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ReportEvent.Usage;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// Builds a reply from the events of one stream. For one thread.
abstract class ModelStreamParser {

  final ProviderRequest request;
  final SinkWriter sinkWriter;
  final TokenCounter tokenCounter = new TokenCounter();
  private final Supplier<String> ids;

  ModelStreamParser(ProviderRequest request, Supplier<String> ids, SinkWriter sinkWriter) {
    this.request = request;
    this.ids = ids;
    this.sinkWriter = sinkWriter;
  }

  /// Processes an event. Returns true if no relevant event will follow.
  ///
  /// @throws ModelFailure if the event is an error, or is malformed
  abstract boolean accept(ServerSentEvent event) throws ModelFailure, InterruptedException;

  /// Returns the usage that the provider has reported so far.
  final Usage usage() {
    return tokenCounter.usage(request.settings);
  }

  /// Returns the reply.
  ///
  /// @throws ModelFailure if the stream ended early, or the answer does not match the schema
  abstract ModelReply.ModelAnswer finish() throws ModelFailure, InterruptedException;

  /// Ends the text, and returns the reply with these calls.
  final ModelReply.ModelAnswer answer(
      List<ToolCallDraft> drafts, FinishReason reason, @Nullable JsonNode memo)
      throws ModelFailure, InterruptedException {
    var calls = ToolCallDraft.calls(drafts, request.names, ids);
    sinkWriter.finish(reason, !calls.isEmpty());
    return new ModelReply.ModelAnswer(reason, calls, usage(), memo);
  }
}
