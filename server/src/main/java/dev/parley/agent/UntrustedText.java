package dev.parley.agent;

import dev.parley.log.EventLog;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TextOrigin;
import dev.parley.protocol.TextOrigin.TextSource;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.tool.Tool;
import java.util.Collection;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Whether the context of a task contains text that nobody vouches for: a result of a tool, a text of
/// an agent outside this server, or a message of another agent. Also if the text was rewound, edited
/// or summarized later, because what it caused may remain.
///
/// Reads the log from its beginning, and at every further question what is new. Not thread-safe.
final class UntrustedText {

  private static final int PAGE = 1_000;

  private final EventLog log;
  private final ContextId context;
  private final UntrustedPolicy policy;
  private Position position = Position.START;
  private @Nullable TextOrigin found;

  /// `tools` are those whose descriptions the agent reads.
  UntrustedText(EventLog log, ContextId context, UntrustedPolicy policy, Collection<Tool> tools) {
    this.log = log;
    this.context = context;
    this.policy = policy;
    this.found =
        tools.stream()
            .flatMap(tool -> TextOrigins.ofDescription(tool).stream())
            .findFirst()
            .orElse(null);
  }

  /// Why a person must approve this call even if a rule allows it, if that is so.
  Optional<String> reason(Tool tool) {
    if (!policy.ask() || !TextOrigins.hasEffect(tool)) {
      return Optional.empty();
    }
    return origin()
        .map(
            textOrigin ->
                "A person decides, because this conversation has read text from "
                    + textOrigin.description()
                    + ".");
  }

  private Optional<TextOrigin> origin() {
    while (found == null) {
      var page = log.read(context, position, PAGE);
      if (page.isEmpty()) {
        break;
      }
      for (var entry : page) {
        if (found == null) {
          found = origin(entry).orElse(null);
        }
        position = entry.position();
      }
    }
    return Optional.ofNullable(found);
  }

  private Optional<TextOrigin> origin(Entry entry) {
    return switch (entry.event()) {
      case ToolComplete end when end.facts().origin().isPresent() -> end.facts().origin();
      case ToolComplete end when end.success() && end.subagentMetadata() == null ->
          foreignAgent(entry).or(() -> TextOrigins.ofUnmarked(end.toolName()));
      case ContentComplete _, TaskComplete _ -> foreignAgent(entry);
      case Message message -> message.facts().caller().or(() -> foreignAgent(entry));
      case TaskCreated created -> created.facts().givenText();
      default -> Optional.empty(); // Contains no text that a model reads.
    };
  }

  private Optional<TextOrigin> foreignAgent(Entry entry) {
    var origin = entry.origin();
    return origin == null || policy.ownAgents().contains(origin.agentId())
        ? Optional.empty()
        : Optional.of(new TextOrigin(TextSource.AGENT, origin.agentId().value()));
  }
}
