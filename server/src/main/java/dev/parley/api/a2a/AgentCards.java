package dev.parley.api.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.A2aVersion;
import dev.parley.api.a2a.A2aMessageSender.MediaTypes;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.Sha256;
import dev.parley.protocol.AgentTypeView;
import dev.parley.protocol.Json;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.node.ObjectNode;

/// Writes agent cards: what an agent can do, and where and how to call it.
final class AgentCards {

  /// The path of a card below its agent's address.
  static final String PATH = "/.well-known/agent-card.json";

  /// The path in version 0.2.
  static final String EARLY_PATH = "/.well-known/agent.json";

  private static final String RPC = "JSONRPC";
  private static final String REST = "HTTP+JSON";
  private static final String SCHEME = "bearer";
  private static final String CACHE_CONTROL = "public, max-age=3600";

  private final A2aSettings settings;
  private final A2aSettings.A2aAccess access;
  private final ExtensionNegotiation negotiation;
  private final String lastModified;

  /// @param since when the cards last changed: when the server read its configuration
  AgentCards(
      A2aSettings settings,
      A2aSettings.A2aAccess access,
      ExtensionNegotiation negotiation,
      Instant since) {
    this.lastModified = DateTimeFormatter.RFC_1123_DATE_TIME.format(since.atOffset(ZoneOffset.UTC));
    this.settings = settings;
    this.access = access;
    this.negotiation = negotiation;
  }

  /// Returns the card in the version that the request names, or 304 if it has not changed.
  Reply reply(Request request, AgentTypeView agent, A2aVersion version) {
    var named = request.header(A2aVersion.HEADER).or(() -> request.query(A2aVersion.HEADER));
    var pure = version == A2aVersion.V1_0 || (settings.pureCard() && named.isEmpty());
    var card = card(request, agent, pure ? A2aVersion.V1_0 : A2aVersion.V0_3, false);
    var bytes = Json.bytes(card);
    var tag = "\"" + HexFormat.of().formatHex(Sha256.of(bytes), 0, 16) + "\"";
    var headers =
        new HashMap<>(
            Map.of(
                "ETag",
                tag,
                "Last-Modified",
                lastModified,
                "Cache-Control",
                CACHE_CONTROL,
                "Vary",
                "Origin, " + A2aVersion.HEADER));
    var known =
        request
            .header("If-None-Match")
            .filter(tags -> tags.equals("*") || List.of(tags.split("\\s*,\\s*", -1)).contains(tag));
    return known.isPresent()
        ? new Reply.Empty(304, headers)
        : new Reply.Bytes(200, "application/json", bytes, headers);
  }

  /// The extended card for authenticated callers: it also lists the agent's tools.
  ///
  /// @throws A2aException if there is only the public card
  ObjectNode extendedCard(Request request, AgentTypeView agent, A2aVersion version) {
    if (!access.tokens()) {
      throw new A2aException(
          version == A2aVersion.V1_0
              ? A2aError.UNSUPPORTED_OPERATION
              : A2aError.EXTENDED_AGENT_CARD_NOT_CONFIGURED,
          "This operation is not supported: without configured tokens there is no extended card");
    }
    return card(request, agent, version, true);
  }

  private ObjectNode card(
      Request request, AgentTypeView agent, A2aVersion version, boolean extended) {
    var url = baseUrl(request) + "/a2a/" + agent.id();
    var early = version == A2aVersion.V0_3;
    var card = Json.object();
    if (early) {
      card.put("protocolVersion", "0.3.0").put("url", url).put("preferredTransport", RPC);
      var others = card.putArray("additionalInterfaces");
      others.addObject().put("url", url).put("transport", RPC);
      others.addObject().put("url", url).put("transport", REST);
      card.put("supportsAuthenticatedExtendedCard", access.tokens());
    }
    card.put("name", agent.name()).put("description", description(agent)).put("version", "1");
    interfaces(card, url);
    card.set("capabilities", capabilities(early));
    security(card, early);
    new MediaTypes(settings.inputModes())
        .inputModes()
        .forEach(card.putArray("defaultInputModes")::add);
    MediaTypes.OUTPUT_MODES.forEach(card.putArray("defaultOutputModes")::add);
    AgentSkills.of(agent, extended).forEach(card.putArray("skills")::add);
    return card;
  }

  static String description(AgentTypeView agent) {
    return agent.description() == null ? agent.name() : agent.description();
  }

  /// All interfaces of the agent, the newest version first. All have the same address.
  private static void interfaces(ObjectNode card, String url) {
    var all = card.putArray("supportedInterfaces");
    for (var version : List.of(A2aVersion.V1_0, A2aVersion.V0_3)) {
      for (var binding : List.of(RPC, REST)) {
        all.addObject()
            .put("url", url)
            .put("protocolBinding", binding)
            .put("protocolVersion", version.number());
      }
    }
  }

  private ObjectNode capabilities(boolean early) {
    var capabilities = Json.object().put("streaming", true).put("pushNotifications", true);
    negotiation.declaredExtensions().forEach(capabilities.putArray("extensions")::add);
    capabilities.put("extendedAgentCard", access.tokens());
    return early ? capabilities.put("stateTransitionHistory", false) : capabilities;
  }

  private void security(ObjectNode card, boolean early) {
    if (!access.tokens()) {
      return;
    }
    var scheme = card.putObject("securitySchemes").putObject(SCHEME);
    if (early) {
      scheme.put("type", "http").put("scheme", SCHEME);
      card.putArray("security").addObject().putArray(SCHEME);
    } else {
      scheme.putObject("httpAuthSecurityScheme").put("scheme", "Bearer");
      card.putArray("securityRequirements")
          .addObject()
          .putObject("schemes")
          .putObject(SCHEME)
          .putArray("list");
    }
  }

  /// The address of this server as the client uses it. The HTTP listener has checked the host.
  private String baseUrl(Request request) {
    return access
        .publicUrl()
        .orElseGet(
            () ->
                (request.secure() ? "https://" : "http://")
                    + request.header("Host").orElse("localhost"));
  }

  /// The skills in an agent's card: its task types, or its description.
  static final class AgentSkills {

    private AgentSkills() {}

    /// @param extended whether to list the agent's tools, too
    static List<ObjectNode> of(AgentTypeView agent, boolean extended) {
      var skills = new ArrayList<ObjectNode>();
      for (var type : agent.taskTypes()) {
        var words = type.replace('_', ' ').replace('-', ' ');
        skills.add(
            skill(type, words, agent.name() + " takes tasks of the type " + words + ".", type));
      }
      if (skills.isEmpty()) {
        skills.add(
            skill(agent.id().value(), agent.name(), AgentCards.description(agent), agent.type()));
      }
      if (extended) {
        for (var tool : agent.tools()) {
          skills.add(skill("tool-" + tool, tool, agent.name() + " can use " + tool + ".", "tool"));
        }
      }
      return skills;
    }

    private static ObjectNode skill(String id, String name, String description, String tag) {
      var skill = Json.object().put("id", id).put("name", name).put("description", description);
      skill.putArray("tags").add(tag);
      return skill;
    }
  }
}
