import Sitemapper from 'sitemapper';
import { print, url } from './common.mjs';

const { sites, errors } = await new Sitemapper({ url, fields: { loc: true, lastmod: true } }).fetch();
if (errors.length) throw new Error(JSON.stringify(errors));
for (const s of sites) print({ id: s.loc, updated: s.lastmod });
