// SPDX-License-Identifier: MIT
// The page of the panel that shows and changes what is bound to what. Main thread only.
#ifndef FRONTEND_BINDING_PAGE_H
#define FRONTEND_BINDING_PAGE_H

#include "app.h"

extern const struct panel_page binding_page;

// While the page waits for a key or button: keys and the mouse are its own. True: it has taken the event.
bool binding_page_event(struct app *app, const SDL_Event *event);
// The same of any input (keys.h); alt: with Alt held.
bool binding_page_take(struct app *app, unsigned input, bool alt);

#endif
