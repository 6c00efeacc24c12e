package dev.parley.app;

import dev.parley.api.a2a.sessions.SessionsApi;
import dev.parley.api.agents.AgentsModule;
import dev.parley.api.chat.ChatApi;
import dev.parley.api.contexts.workflow.WorkflowModule;
import dev.parley.api.mcp.McpApi;
import dev.parley.api.openai.OpenAiApi;
import dev.parley.offline.OfflineModule;
import dev.parley.server.Extensions;

/// The modules of the program `parley`: the dialects of other systems, the offline model, and the
/// agent for conformance kits.
public final class ProgramModules {

  /// All modules.
  public static final Extensions ALL =
      Extensions.NONE
          .withApi(new ChatApi())
          .withApi(new AgentsModule())
          .withApi(new SessionsApi())
          .withApi(new WorkflowModule())
          .withApi(new OpenAiApi())
          .withApi(new McpApi())
          .with(OfflineModule.MODEL)
          .with(OfflineModule.CONFORMANCE_AGENT);

  private ProgramModules() {}
}
