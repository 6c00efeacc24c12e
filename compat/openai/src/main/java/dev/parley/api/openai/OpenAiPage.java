package dev.parley.api.openai;

import dev.parley.http.Parameter;
import dev.parley.http.Request;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/// A page of a list, in the form of OpenAI.
final class OpenAiPage {

  static final List<Parameter> PARAMETERS =
      List.of(
          Parameter.query("limit", Parameter.Type.INTEGER, "how many items, at most 100"),
          Parameter.query("order", "asc, or desc for the latest first, which is the default"),
          Parameter.query("after", "the id of the last item of the page before"),
          Parameter.ANY_OTHER);

  private static final int LIMIT_USUAL = 20;
  private static final long LIMIT_MAX = 100;

  private OpenAiPage() {}

  /// The page that a request asks for.
  ///
  /// @param items all items, oldest first
  static ObjectNode of(Request request, List<ObjectNode> items) {
    var ordered = ascending(request) ? items : items.reversed();
    var after = request.query("after").orElse("");
    var from = 0;
    if (!after.isEmpty()) {
      from = 1;
      while (from <= ordered.size() && !id(ordered.get(from - 1)).equals(after)) {
        from++;
      }
      if (from > ordered.size()) {
        throw new Rejection.Invalid("after must be the id of an item of this list");
      }
    }
    var limit =
        request.number("limit", 1).map(n -> (int) Math.min(n, LIMIT_MAX)).orElse(LIMIT_USUAL);
    var page = ordered.subList(from, Math.min(ordered.size(), from + limit));
    return of(page, from + page.size() < ordered.size());
  }

  static boolean ascending(Request request) {
    return switch (request.query("order").orElse("desc")) {
      case "asc" -> true;
      case "desc" -> false;
      default -> throw new Rejection.Invalid("order must be asc or desc");
    };
  }

  private static ObjectNode of(List<ObjectNode> page, boolean more) {
    var json = Json.object().put("object", "list");
    page.forEach(json.putArray("data")::add);
    json.put("first_id", page.isEmpty() ? null : id(page.getFirst()));
    json.put("last_id", page.isEmpty() ? null : id(page.getLast()));
    return json.put("has_more", more);
  }

  private static String id(ObjectNode item) {
    return item.path("id").asString("");
  }
}
