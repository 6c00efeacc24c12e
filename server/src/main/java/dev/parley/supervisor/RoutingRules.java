package dev.parley.supervisor;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.RoutingStrategy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Chooses agents without a model: by the names in the message, by the type of the task, by the
/// words of the descriptions, or else the fallback agent.
final class RoutingRules {

  private static final Pattern DELEGATE =
      Pattern.compile(
          "(?:please\\s+)?delegate\\s+(.+)\\s+to\\s+([\\p{L}\\p{N}_.:,\\s-]+?)[.!?]?",
          Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
  private static final Pattern BETWEEN =
      Pattern.compile("\\s*,\\s*(?:and\\s+)?|\\s+and\\s+", Pattern.CASE_INSENSITIVE);
  private static final Pattern WORD = Pattern.compile("[\\p{L}\\p{N}]{4,}");
  private static final Set<String> COMMON =
      Set.of("this", "that", "with", "from", "what", "your", "have", "them", "they", "does");

  private final Map<AgentTypeId, TeamAgent> team;
  private final AgentTypeId standard;

  RoutingRules(Map<AgentTypeId, TeamAgent> team, AgentTypeId standard) {
    this.team = team;
    this.standard = standard;
  }

  /// The decision; `fallback` is the reason why no model decided.
  RoutingDecision decide(RoutingRequest routingRequest, @Nullable String fallback) {
    return byName(routingRequest, fallback)
        .or(() -> byStrategy(routingRequest, fallback))
        .or(() -> byType(routingRequest, fallback))
        .or(() -> byWords(routingRequest, fallback))
        .orElseGet(
            () ->
                one(
                    member(standard),
                    routingRequest,
                    "nothing points to another agent, so the fallback agent acts",
                    0.3,
                    fallback));
  }

  /// The message, with the type and the strategy that it asks for.
  record RoutingRequest(
      String text, @Nullable String taskType, @Nullable RoutingStrategy strategy) {}

  /// Matches `delegate X to A and B`.
  private Optional<RoutingDecision> byName(
      RoutingRequest routingRequest, @Nullable String fallback) {
    return match(routingRequest.text())
        .map(
            phrase -> {
              var members = named(phrase.group(2));
              if (members.isEmpty()) {
                return null;
              }
              var routingStrategy =
                  routingRequest.strategy() != null
                      ? routingRequest.strategy()
                      : members.size() == 1 ? RoutingStrategy.DELEGATE : RoutingStrategy.PARALLEL;
              return routing(
                  routingStrategy,
                  members,
                  phrase.group(1),
                  "the message names the agents",
                  1,
                  fallback);
            });
  }

  private static Optional<Matcher> match(String text) {
    var matcher = DELEGATE.matcher(text.strip());
    return matcher.matches() ? Optional.of(matcher) : Optional.empty();
  }

  private List<TeamAgent> named(String names) {
    var members = new ArrayList<TeamAgent>();
    for (var name : BETWEEN.split(names.strip())) {
      var member = find(name.strip());
      if (member.isEmpty()) {
        return List.of();
      }
      members.add(member.get());
    }
    return members;
  }

  private Optional<TeamAgent> find(String name) {
    var wanted = name.toLowerCase(Locale.ROOT).replaceFirst("^the\\s+", "");
    return team.values().stream()
        .filter(
            teamAgent -> {
              var id = teamAgent.id().value().toLowerCase(Locale.ROOT);
              return id.equals(wanted)
                  || id.equals("agent-" + wanted)
                  || teamAgent.name().toLowerCase(Locale.ROOT).equals(wanted);
            })
        .findFirst();
  }

  /// For a strategy that needs several agents, when the message names none: all whose descriptions
  /// match, or else the whole team.
  private Optional<RoutingDecision> byStrategy(
      RoutingRequest routingRequest, @Nullable String fallback) {
    if (routingRequest.strategy() != RoutingStrategy.PARALLEL
        && routingRequest.strategy() != RoutingStrategy.SEQUENTIAL) {
      return Optional.empty();
    }
    var fitting = scored(routingRequest.text());
    var members = fitting.size() > 1 ? fitting : new ArrayList<>(team.values());
    return Optional.of(
        routing(
            routingRequest.strategy(),
            members,
            routingRequest.text(),
            "the message asks for several agents",
            0.6,
            fallback));
  }

  private Optional<RoutingDecision> byType(
      RoutingRequest routingRequest, @Nullable String fallback) {
    var type = routingRequest.taskType();
    return type == null
        ? Optional.empty()
        : team.values().stream()
            .filter(teamAgent -> teamAgent.taskTypes().contains(type))
            .findFirst()
            .map(
                teamAgent ->
                    one(
                        teamAgent,
                        routingRequest,
                        "it takes tasks of type " + type,
                        0.9,
                        fallback));
  }

  private Optional<RoutingDecision> byWords(
      RoutingRequest routingRequest, @Nullable String fallback) {
    return scored(routingRequest.text()).stream()
        .findFirst()
        .map(
            teamAgent ->
                one(teamAgent, routingRequest, "its description fits best", 0.5, fallback));
  }

  /// The agents whose descriptions share words with the text, the best match first.
  private List<TeamAgent> scored(String text) {
    var wanted = words(text);
    return team.values().stream()
        .filter(teamAgent -> score(teamAgent, wanted) > 0)
        .sorted(
            Comparator.comparingInt((TeamAgent teamAgent) -> score(teamAgent, wanted)).reversed())
        .toList();
  }

  private static int score(TeamAgent teamAgent, Collection<String> wanted) {
    var known = words(teamAgent.name() + " " + teamAgent.description());
    return (int) wanted.stream().filter(known::contains).count();
  }

  private static Set<String> words(String text) {
    var words = new HashSet<String>();
    for (var matcher = WORD.matcher(text.toLowerCase(Locale.ROOT)); matcher.find(); ) {
      if (!COMMON.contains(matcher.group())) {
        words.add(matcher.group());
      }
    }
    return words;
  }

  private TeamAgent member(AgentTypeId id) {
    var teamAgent = team.get(id);
    return teamAgent == null ? team.values().iterator().next() : teamAgent;
  }

  private static RoutingDecision one(
      TeamAgent teamAgent,
      RoutingRequest routingRequest,
      String reasoning,
      double confidence,
      @Nullable String fallback) {
    var routingStrategy =
        routingRequest.strategy() == RoutingStrategy.DELEGATE
            ? RoutingStrategy.DELEGATE
            : RoutingStrategy.SINGLE;
    return routing(
        routingStrategy,
        List.of(teamAgent),
        routingRequest.text(),
        reasoning,
        confidence,
        fallback);
  }

  private static RoutingDecision routing(
      RoutingStrategy routingStrategy,
      List<TeamAgent> members,
      String task,
      String reasoning,
      double confidence,
      @Nullable String fallback) {
    var choices = new ArrayList<RoutingDecision.AgentChoice>();
    for (var teamAgent : members) {
      choices.add(
          new RoutingDecision.AgentChoice(
              teamAgent.id(), teamAgent.name(), task, choices.size() + 1));
    }
    return new RoutingDecision(routingStrategy, choices, reasoning, confidence, fallback)
        .with(routingStrategy);
  }
}
