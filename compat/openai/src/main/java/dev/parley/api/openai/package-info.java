/// The API that is compatible with OpenAI: models, chat completions, responses and conversations.
@NullMarked
package dev.parley.api.openai;

import org.jspecify.annotations.NullMarked;
